package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"frontier/internal/bytesize"
	"frontier/internal/cas"

	"github.com/spf13/cobra"
)

const day = 24 * time.Hour

func newCacheGC(dir *string) *cobra.Command {
	var olderThan, maxSize string
	var dry bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Delete what is of no use in the cache, and artifacts by age or to make room",
		Long: "Without flags it deletes what can be of no use: damaged artifacts, those of other versions of frontier, and what\n" +
			"processes that died left behind. With them it also deletes whole artifacts, those first that were not used for\n" +
			"longest. What a running frontier uses is never deleted. Whatever is deleted is made again when it is needed.",
		Example: "  frontier cache gc --older-than 30d --max-size 20GiB --dry-run",
		Args:    exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opt := cas.GCOptions{DryRun: dry}
			if cmd.Flags().Changed("older-than") {
				age, err := parseAge(olderThan)
				if err != nil {
					return usage(fmt.Errorf("--older-than: %w", err))
				}
				opt.UnusedSince = time.Now().Add(-age)
			}
			if cmd.Flags().Changed("max-size") {
				bytes, err := parseMaxSize(maxSize)
				if err != nil {
					return usage(fmt.Errorf("--max-size: %w", err))
				}
				opt.MaxBytes = &bytes
			}
			return withCache(cmd, *dir, func(c *cas.Cache) error {
				report, err := c.GC(cmd.Context(), opt)
				tellGC(cmd, report, dry, err == nil)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&olderThan, "older-than", "", "delete artifacts that were not used for so long: 30d, 12h, 2w")
	cmd.Flags().StringVar(&maxSize, "max-size", "", "then delete until what is left is at most so large: 20GiB, or 0 for all")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what would be deleted")
	return cmd
}

// tellGC prints the report. What is left is told only if all artifacts could be looked at.
func tellGC(cmd *cobra.Command, r cas.GCReport, dry, all bool) {
	out, deleted, freed := cmd.OutOrStdout(), "deleted", "freed"
	if dry {
		deleted, freed = "would delete", "would free"
	}
	for _, d := range r.Deleted {
		fmt.Fprintf(out, "%s %s  %s  %s (%s)\n", deleted, d.Key, shown(d.Bytes), d.Meta.Stage.Describe(), d.Reason)
	}
	if r.Rest > 0 {
		fmt.Fprintf(out, "%s %s of damaged artifacts and of processes that died, %s\n", deleted, count(r.Rest, "folder"), shown(r.RestBytes))
	}
	for _, e := range r.InUse {
		fmt.Fprintf(out, "kept %s  %s  %s (in use)\n", e.Key, shown(e.Bytes), e.Meta.Stage.Describe())
	}
	left := ""
	if all {
		left = fmt.Sprintf("; %s, %s, left", count(r.KeptCount, "artifact"), shown(r.KeptBytes))
	}
	fmt.Fprintf(out, "%s %s%s\n", freed, shown(r.Freed()), left)
}

// parseAge reads a time with its unit, in days and weeks too.
func parseAge(s string) (time.Duration, error) {
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		number, ok := strings.CutSuffix(s, suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if age := n * float64(unit); err == nil && age >= 0 && age < math.MaxInt64 {
			return time.Duration(age), nil
		}
	}
	age, err := time.ParseDuration(s)
	if err != nil || age < 0 {
		return 0, fmt.Errorf("%q is not a time such as 30d, 2w or 12h", s)
	}
	return age, nil
}

func parseMaxSize(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	return bytesize.Parse(s)
}
