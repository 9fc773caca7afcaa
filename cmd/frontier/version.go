package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"frontier/indexes/engines"
	"frontier/internal/kernels"

	"github.com/spf13/cobra"
)

// release and revision are set by the linker; see the Makefile.
var release, revision string

func version() string {
	if release != "" {
		return release
	}
	return "development"
}

// commit is the commit that the binary was built from, as far as the build knows it.
func commit() string {
	if revision != "" {
		return revision
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of frontier and of its engines",
		Example: "  frontier version",
		Args:    exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "frontier %s\ncommit   %s\ngo       %s %s/%s\nkernels  %s\n", version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernels.Variant())
			for _, e := range engines.All() {
				if e.Absent != "" {
					fmt.Fprintf(w, "%-8s absent: %s\n", e.Name, e.Absent)
					continue
				}
				fmt.Fprintf(w, "%-8s %s\n", e.Name, e.Version())
			}
			return nil
		},
	}
}
