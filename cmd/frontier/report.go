package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"frontier/results"

	"github.com/spf13/cobra"
)

func newReport() *cobra.Command {
	var out, png, svg string
	var objectives []string
	cmd := &cobra.Command{
		Use:     "report RESULTS...",
		Short:   "Write the report of one or more runs as one HTML file",
		Example: "  frontier report out/quickstart -o report.html --png pareto.png",
		Args:    atLeastOne("a results folder, a Parquet file or a glob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := results.ReadRows(cmd.Context(), args...)
			if err != nil {
				return usage(err)
			}
			objs, err := chosenObjectives(args, objectives)
			if err != nil {
				return usage(err)
			}
			m, err := results.ReadManifest(args[0])
			if err != nil {
				return usage(hint(err, "the first argument must be a results folder"))
			}
			pictures := []struct{ path, format string }{{png, "png"}, {svg, "svg"}}
			for _, p := range pictures {
				if p.path == "" {
					continue
				}
				if err := writeTo(p.path, func(w io.Writer) error { return results.Plot(w, rows, objs, p.format) }); err != nil {
					return err
				}
			}
			if out == "" {
				out = filepath.Join(args[0], "report.html")
			}
			if err := writeTo(out, func(w io.Writer) error { return results.Report(w, rows, m, objs) }); err != nil {
				return err
			}
			if out != "-" {
				fmt.Fprintln(os.Stderr, out)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the HTML file, or - (default report.html in the folder)")
	cmd.Flags().StringVar(&png, "png", "", "also draw the frontier into this PNG file")
	cmd.Flags().StringVar(&svg, "svg", "", "also draw the frontier into this SVG file")
	cmd.Flags().StringArrayVar(&objectives, "objective", nil, "column:max or column:min (default: those of the sweep)")
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
