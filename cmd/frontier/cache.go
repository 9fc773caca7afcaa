package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"frontier/internal/cas"

	"github.com/spf13/cobra"
)

func newCache() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "cache",
		Short:   "List, clean up or check the cache of prepared artifacts",
		Example: "  frontier cache ls\n  frontier cache gc --older-than 30d --max-size 20GiB\n  frontier cache verify",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("%q is none of ls, gc and verify", args[0]))
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return usage(fmt.Errorf("say what to do with the cache: ls, gc or verify, as in `frontier cache ls`"))
		},
	}
	cmd.PersistentFlags().StringVar(&dir, "cache", defaultCache(), "the cache's folder; $FRONTIER_CACHE sets the default")
	cmd.AddCommand(newCacheList(&dir), newCacheGC(&dir), newCacheVerify(&dir))
	return cmd
}

// withCache calls f with the cache in dir. One that was named has to be there; the default one may not have been used.
func withCache(cmd *cobra.Command, dir string, f func(*cas.Cache) error) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if cmd.Flags().Changed("cache") {
			return usage(hint(err, "name the folder of a cache with --cache"))
		}
		fmt.Fprintf(os.Stderr, "the cache %s is not there yet\n", dir)
	}
	cache, err := cas.OpenExisting(dir)
	if err != nil {
		return err
	}
	return errors.Join(f(cache), cache.Close())
}

// shown is how many bytes there are, for people.
func shown(bytes int64) string { return cas.FormatBytes(bytes) }

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
