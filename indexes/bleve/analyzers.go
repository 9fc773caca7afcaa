package bleve

import (
	"github.com/blevesearch/bleve/v2/analysis/analyzer/standard"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fa"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// analyzers are those that bleve has for whole languages. Left out are languages for which it ships stop words alone, and
// Polish, whose stemmer needs a table of 3 MB from a module of its own. Naming
// each here links it in, since bleve finds analyzers by name when an index is made.
func analyzers() []string {
	return []string{
		en.AnalyzerName, standard.Name, cjk.AnalyzerName,
		ar.AnalyzerName, ckb.AnalyzerName, da.AnalyzerName, de.AnalyzerName, es.AnalyzerName, fa.AnalyzerName, fi.AnalyzerName,
		fr.AnalyzerName, hi.AnalyzerName, hr.AnalyzerName, hu.AnalyzerName, it.AnalyzerName, nl.AnalyzerName, no.AnalyzerName,
		pt.AnalyzerName, ro.AnalyzerName, ru.AnalyzerName, sv.AnalyzerName, tr.AnalyzerName,
	}
}

const analyzerDoc = "How text becomes words. A language's code stems and drops the stop words of that language (ckb is Sorani; fa does not stem); cjk makes pairs of neighbouring characters of Chinese, Japanese and Korean; standard only splits, lowers case and drops English stop words."
