package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"frontier/chunkers"
	"frontier/embedders"
	"frontier/indexes/engines"
	"frontier/internal/param"

	"github.com/spf13/cobra"
)

// part is a chunker, an embedder or an engine as the commands print it.
type part struct {
	Name    string      `json:"name"`
	Doc     string      `json:"doc"`
	Params  []paramLine `json:"params,omitempty"`
	Search  []paramLine `json:"search,omitempty"`
	Metrics []string    `json:"metrics,omitempty"`
	Version string      `json:"version,omitempty"`
	Absent  string      `json:"absent,omitempty"`
	Defects []string    `json:"defects,omitempty"`
}

type paramLine struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Default any    `json:"default"`
	Range   string `json:"range"`
	Column  string `json:"column,omitempty"`
	Doc     string `json:"doc"`
}

func newEngines() *cobra.Command {
	return partsCommand("engines", "Print the engines of this binary, their parameters and known defects", func() []part {
		var parts []part
		for _, e := range engines.All() {
			p := part{Name: e.Name, Doc: e.Doc, Params: paramLines(e.Params), Search: paramLines(e.Search), Absent: e.Absent, Defects: e.Defects}
			if e.Absent == "" {
				p.Version = e.Version()
			}
			for _, m := range e.Metrics {
				p.Metrics = append(p.Metrics, string(m))
			}
			parts = append(parts, p)
		}
		return parts
	})
}

func newChunkers() *cobra.Command {
	return partsCommand("chunkers", "Print the chunkers and their parameters", func() []part {
		var parts []part
		for _, k := range chunkers.Kinds() {
			parts = append(parts, part{Name: k.Name, Doc: k.Doc, Params: paramLines(k.Params)})
		}
		return parts
	})
}

func newEmbedders() *cobra.Command {
	return partsCommand("embedders", "Print the embedders and their parameters", func() []part {
		var parts []part
		for _, k := range embedders.Kinds() {
			parts = append(parts, part{Name: k.Name, Doc: k.Doc, Params: paramLines(k.Params)})
		}
		return parts
	})
}

func paramLines(specs []param.Spec) []paramLine {
	var lines []paramLine
	for i := range specs {
		s := &specs[i]
		lines = append(lines, paramLine{s.Name, s.Type.String(), s.Default, s.Range(), s.Column, s.Doc})
	}
	return lines
}

func partsCommand(name, short string, list func() []part) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  frontier " + name,
		Args:    exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(list())
			}
			for _, p := range list() {
				printPart(cmd.OutOrStdout(), p)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func printPart(w io.Writer, p part) {
	fmt.Fprintf(w, "%s", p.Name)
	if p.Version != "" {
		fmt.Fprintf(w, "  (%s)", p.Version)
	}
	fmt.Fprintf(w, "\n  %s\n", p.Doc)
	if p.Absent != "" {
		fmt.Fprintf(w, "  ABSENT from this binary: %s\n", p.Absent)
	}
	if len(p.Metrics) > 0 {
		fmt.Fprintf(w, "  metrics: %s\n", strings.Join(p.Metrics, ", "))
	}
	printParams(w, "", p.Params)
	printParams(w, "search.", p.Search)
	for _, d := range p.Defects {
		fmt.Fprintf(w, "  known defect: %s\n", d)
	}
	fmt.Fprintln(w)
}

func printParams(w io.Writer, prefix string, lines []paramLine) {
	for _, l := range lines {
		value := "required"
		if l.Default != nil {
			value = fmt.Sprintf("default %v", l.Default)
		}
		fmt.Fprintf(w, "  %-24s %s, %s: %s\n", prefix+l.Name, l.Range, value, l.Doc)
	}
}
