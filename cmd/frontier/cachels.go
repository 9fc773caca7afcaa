package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"frontier/internal/cas"

	"github.com/spf13/cobra"
)

// artifactLine is an artifact as it is printed.
type artifactLine struct {
	Key       string    `json:"key"`
	Stage     string    `json:"stage"`
	Params    string    `json:"params"`
	Condition string    `json:"condition"`
	Bytes     int64     `json:"bytes"`
	Created   time.Time `json:"created_at"`
	LastUsed  time.Time `json:"last_used_at"`
	Seconds   float64   `json:"wall_seconds"` // that making it took
	Path      string    `json:"path"`
	describe  string
}

func newCacheList(dir *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List the artifacts of the cache, the one used last first",
		Example: "  frontier cache ls --format csv",
		Args:    exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := artifactWriters()[format]
			if !ok {
				return usage(fmt.Errorf("--format: %q is not one of table, json and csv", format))
			}
			return withCache(cmd, *dir, func(c *cas.Cache) error {
				entries, err := c.List(cmd.Context())
				slices.Reverse(entries)
				var total int64
				lines := make([]artifactLine, len(entries))
				for i, e := range entries {
					total += e.Bytes
					lines[i] = artifactLine{
						string(e.Key), e.Meta.Stage.Name, e.Meta.Stage.Params, string(e.Condition), e.Bytes,
						e.Meta.Created, e.LastUsed.UTC(), e.Meta.WallSeconds, e.Dir, e.Meta.Stage.Describe(),
					}
				}
				if err := write(cmd.OutOrStdout(), lines); err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "%s, %s, in %s\n", count(len(entries), "artifact"), shown(total), c.Root())
				return err
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "how the list is printed: table, json or csv")
	return cmd
}

func artifactWriters() map[string]func(io.Writer, []artifactLine) error {
	return map[string]func(io.Writer, []artifactLine) error{
		"table": writeArtifactTable, "json": writeArtifactJSON, "csv": writeArtifactCSV,
	}
}

func writeArtifactTable(w io.Writer, lines []artifactLine) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tSIZE\tAGE\tUSED\tCONDITION\tSTAGE") // its errors come out of Flush
	now := time.Now()
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s ago\t%s\t%s\n", l.Key, shown(l.Bytes), age(now, l.Created), age(now, l.LastUsed), l.Condition, l.describe)
	}
	return table.Flush()
}

// age is how long ago t was, in its largest unit.
func age(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "?"
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d/day))
}

func writeArtifactJSON(w io.Writer, lines []artifactLine) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(lines)
}

func writeArtifactCSV(w io.Writer, lines []artifactLine) error {
	out := csv.NewWriter(w)
	records := [][]string{{"key", "stage", "params", "condition", "bytes", "created_at", "last_used_at", "wall_seconds", "path"}}
	for _, l := range lines {
		records = append(records, []string{
			l.Key, l.Stage, l.Params, l.Condition, strconv.FormatInt(l.Bytes, 10),
			l.Created.Format(time.RFC3339Nano), l.LastUsed.Format(time.RFC3339Nano), strconv.FormatFloat(l.Seconds, 'g', -1, 64), l.Path,
		})
	}
	return out.WriteAll(records)
}
