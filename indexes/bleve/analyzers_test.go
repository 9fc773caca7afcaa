package bleve

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"frontier/indexes"
	"frontier/internal/param"
)

// Each analyzer finds a text by another form of one of its words, or, where it does not stem, by the word in capitals or
// another spelling; and what is a stop word elsewhere finds nothing where it is one.
func TestAnalyzers(t *testing.T) {
	type form struct{ text, question string }
	forms := map[string]form{
		"en":       {"the engines were running", "engine"},
		"standard": {"engines", "ENGINES"},
		"cjk":      {"東京都の天気", "天気"},
		"ar":       {"الكتاب الجديد", "كتاب"},
		"ckb":      {"پیاوەکە", "پیاو"},
		"da":       {"de gamle bygninger", "bygning"},
		"de":       {"die alten Häuser", "hauser"},
		"es":       {"los coches rojos", "coche"},
		"fa":       {"كتاب", "کتاب"},
		"fi":       {"vanhat talossa", "talo"},
		"fr":       {"l'avion des voisines", "voisine"},
		"hi":       {"किताबें", "किताब"},
		"hr":       {"stare knjige", "knjiga"},
		"hu":       {"régi házak", "ház"},
		"it":       {"dell'albero antico", "alberi"},
		"nl":       {"de oude boeken", "boek"},
		"no":       {"de gamle bygningene", "bygning"},
		"pt":       {"os carros velhos", "carro"},
		"ro":       {"cărțile vechi", "cărți"},
		"ru":       {"старые книги", "книга"},
		"sv":       {"de gamla bilarna", "bil"},
		"tr":       {"Ankara'da evler", "ankara"},
	}
	for _, analyzer := range analyzers() {
		t.Run(analyzer, func(t *testing.T) {
			f, ok := forms[analyzer]
			if !ok {
				t.Fatal("there is no example for it")
			}
			x := open(t, []string{"zzz", f.text}, param.Values{"analyzer": analyzer})
			if got := find(t, x, f.question, 10); !slices.Equal(got, []int64{1}) {
				t.Errorf("%q finds %v", f.question, got)
			}
		})
	}
	german := open(t, []string{"wer die Wahl hat"}, param.Values{"analyzer": "de"})
	if got := find(t, german, "die", 10); len(got) != 0 {
		t.Errorf("the German stop word finds %v", got)
	}
	english := open(t, []string{"wer die Wahl hat"}, param.Values{"analyzer": "en"})
	if got := find(t, english, "die", 10); len(got) != 1 {
		t.Errorf("die is no stop word of English and finds %v", got)
	}
}

// The same questions and paragraphs in three languages: the analyzer of the language ranks the right paragraph first more
// often than one for another language. English is the control, where the roles change.
func TestRightAnalyzerForEachScript(t *testing.T) {
	for _, c := range []struct {
		set, right string
		wrong      []string
		least      float64 // accuracy at 1 of the right one
		gain       float64 // over each of the wrong ones
	}{
		{"xquad-en", "en", []string{"cjk"}, 0.92, 0.01},
		{"xquad-de", "de", []string{"en", "cjk"}, 0.88, 0.02},
		{"xquad-zh", "cjk", []string{"en", "standard"}, 0.92, 0.03},
	} {
		t.Run(c.set, func(t *testing.T) {
			texts, questions, gold := readParagraphs(t, c.set)
			right := accuracy(t, texts, questions, gold, c.right)
			t.Logf("%s: %.4f", c.right, right)
			if right < c.least {
				t.Errorf("%s has an accuracy of %.4f, less than %.2f", c.right, right, c.least)
			}
			for _, wrong := range c.wrong {
				got := accuracy(t, texts, questions, gold, wrong)
				t.Logf("%s: %.4f", wrong, got)
				if right-got < c.gain {
					t.Errorf("%s has %.4f and %s %.4f, which is less than %.2f more", c.right, right, wrong, got, c.gain)
				}
			}
		})
	}
}

// accuracy is the share of questions of which the first answer is the paragraph that holds the answer.
func accuracy(t *testing.T, texts, questions []string, gold []int, analyzer string) float64 {
	t.Helper()
	x := open(t, texts, param.Values{"analyzer": analyzer})
	right := 0
	var hits []indexes.Hit
	for i, q := range questions {
		var err error
		if hits, err = x.Search(indexes.Query{Text: q}, 1, hits); err != nil {
			t.Fatal(err)
		}
		if len(hits) == 1 && hits[0].ID == int64(gold[i]) {
			right++
		}
	}
	return float64(right) / float64(len(questions))
}

// readParagraphs reads a collection of questions whose answer is in exactly one document.
func readParagraphs(t *testing.T, set string) (texts, questions []string, gold []int) {
	t.Helper()
	row := map[string]int{}
	readLines(t, set+"/corpus.jsonl", func(line string) {
		var d struct {
			ID   string `json:"_id"`
			Text string
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		row[d.ID] = len(texts)
		texts = append(texts, d.Text)
	})
	readLines(t, set+"/golden.jsonl", func(line string) {
		var c struct {
			Query    string
			Evidence []struct {
				Document string `json:"document_id"`
			} `json:"gold_evidence"`
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil || len(c.Evidence) == 0 {
			t.Fatal(fmt.Errorf("%s: %w", line, err))
		}
		questions = append(questions, c.Query)
		gold = append(gold, row[c.Evidence[0].Document])
	})
	return texts, questions, gold
}
