//go:build tools

package frontier

import (
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/apache/arrow/go/v17/arrow"
	_ "github.com/apache/arrow/go/v17/parquet/pqarrow"
	_ "github.com/blevesearch/bleve/v2"
	_ "github.com/coder/hnsw"
	_ "github.com/expr-lang/expr"
	_ "github.com/goccy/go-yaml"
	_ "github.com/gofrs/flock"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/tiktoken-go/tokenizer"
	_ "github.com/vbauerster/mpb/v8"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/text/unicode/norm"
	_ "gonum.org/v1/gonum/mat"
	_ "gonum.org/v1/plot"
	_ "pgregory.net/rapid"
)
