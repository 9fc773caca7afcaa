package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"frontier/results"

	"github.com/spf13/cobra"
)

func newReport() *cobra.Command {
	var q question
	var out, png, svg string
	cmd := &cobra.Command{
		Use:     "report RESULTS...",
		Short:   "Write the report of one or more runs as one HTML file",
		Example: "  frontier report out/quickstart -o report.html --png pareto.png",
		Args:    atLeastOne("a results folder, a Parquet file or a glob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				info, err := os.Stat(args[0])
				if glob := strings.ContainsAny(args[0], "*?["); len(args) > 1 || (err == nil && !info.IsDir()) || (err != nil && glob) {
					return usage(errors.New("say with -o where to write the report; only that of a single results folder has a place of its own"))
				}
				out = filepath.Join(args[0], "report.html")
			}
			a, err := q.ask(cmd, args, results.ReportMeasures()...)
			if err != nil {
				return usage(err)
			}
			if err := a.checkObjectives(cmd); err != nil {
				return usage(err)
			}
			tellMixed(cmd, a.groups)
			if len(a.groups) > 1 && (png != "" || svg != "") {
				return usage(fmt.Errorf("a picture shows one data set, and these rows are of %d; choose one with --where", len(a.groups)))
			}
			pictures := []struct{ path, format string }{{png, "png"}, {svg, "svg"}}
			for _, p := range pictures {
				if p.path == "" {
					continue
				}
				if err := writeTo(p.path, func(w io.Writer) error { return results.Plot(w, a.rows, a.objectives, p.format) }); err != nil {
					return err
				}
			}
			if err := writeTo(out, func(w io.Writer) error { return results.ReportRuns(w, a.rows, a.sources, a.objectives) }); err != nil {
				return err
			}
			if out != "-" {
				fmt.Fprintln(os.Stderr, out)
			}
			return nil
		},
	}
	q.addFlags(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the HTML file, or - (default report.html in the folder)")
	cmd.Flags().StringVar(&png, "png", "", "also draw the frontier into this PNG file")
	cmd.Flags().StringVar(&svg, "svg", "", "also draw the frontier into this SVG file")
	return cmd
}

// writeTo makes the file at path, or writes to stdout for "-".
func writeTo(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(os.Stdout)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
