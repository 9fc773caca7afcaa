package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"frontier/sweep/show"

	"github.com/spf13/cobra"
)

// showFlags are the flags of show.
type showFlags struct {
	show.Options
	format, golden string
	rank           int
}

func newShow() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show RESULTS",
		Short: "Show questions with their evidence, what each point answered, and which stage lost the rest",
		Long: "Drills down from a figure to the texts behind it. --query shows one question at every point; without it the questions\n" +
			"that lose most evidence are shown, which are the ones to read first. Evidence within an answer stands between « and ».\n" +
			"Texts are read anew from the corpus that the sweep file of the run names, and only if it is still the same.",
		Example: "  frontier show out/quickstart --worst 20",
		Args:    exactly(1, "one results folder"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Point, "point", "", "only points whose id begins with this")
	flags.StringVar(&f.Cell, "cell", "", "only points of cells whose id begins with this")
	flags.StringVar(&f.Query, "query", "", "the id of one question")
	flags.IntVar(&f.Worst, "worst", 10, "so many of the questions that lose most, over all points shown")
	flags.IntVar(&f.Top, "top", 5, "so many answers of each point")
	flags.StringVar(&f.Root, "root", "", "folder that relative paths of the sweep file are taken from (default: where it was)")
	flags.StringVar(&f.format, "format", "text", "text or json")
	flags.StringVar(&f.golden, "to-golden", "", "also append the questions to this golden set as new cases; see --rank")
	flags.IntVar(&f.rank, "rank", 0, "with --to-golden: take the answer of this rank as evidence (default: leave it to fill in)")
	return cmd
}

func (f *showFlags) run(cmd *cobra.Command, dir string) error {
	switch {
	case !slices.Contains([]string{"text", "json"}, f.format):
		return usage(fmt.Errorf("--format: unknown format %q; the formats are text, json", f.format))
	case f.Worst < 1 || f.Top < 1 || f.rank < 0:
		return usage(errors.New("--worst and --top are at least 1, and --rank at least 0"))
	case f.rank > 0 && (f.golden == "" || f.Query == "" || f.Point == ""):
		return usage(errors.New("--rank chooses an answer of one question at one point: give --to-golden, --query and --point as well"))
	}
	f.Registry = registry()
	f.Top = max(f.Top, f.rank)
	rep, err := show.Load(cmd.Context(), dir, f.Options)
	if err != nil {
		var absent *show.Error
		if errors.As(err, &absent) {
			return usage(err)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return usage(hint(err, "name the results folder of a sweep"))
		}
		return err
	}
	if rep.Warning != "" {
		cmd.PrintErrln("warning: " + rep.Warning)
	}
	if f.golden != "" {
		if err := f.append(rep); err != nil {
			return err
		}
	}
	if f.format == "json" {
		return rep.WriteJSON(cmd.OutOrStdout())
	}
	return rep.WriteText(cmd.OutOrStdout())
}

// append adds the questions to a golden set, whose last line may lack its end.
func (f *showFlags) append(rep *show.Report) (err error) {
	text := ""
	for i := range rep.Questions {
		line, err := rep.ToGolden(&rep.Questions[i], f.rank)
		if err != nil {
			return err
		}
		text += line
	}
	out, err := os.OpenFile(f.golden, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("append to the golden set: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	info, err := out.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		if _, err := out.ReadAt(last, size-1); err != nil {
			return fmt.Errorf("append to the golden set: %w", err)
		}
		if last[0] != '\n' {
			text = "\n" + text
		}
	}
	_, err = out.WriteString(text)
	return err
}
