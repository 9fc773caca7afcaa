package main

import (
	"fmt"
	"os"
	"time"

	"frontier/internal/cas"

	"github.com/spf13/cobra"
)

func newCacheVerify(dir *string) *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare all artifacts of the cache with their checksums",
		Long: "Prints each artifact that is not what had been written, with what is wrong, and exits with 1 if there is any. A\n" +
			"sweep does the same with each artifact before it first uses it, and makes damaged ones again.",
		Example: "  frontier cache verify --repair",
		Args:    exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCache(cmd, *dir, func(c *cas.Cache) error {
				report, err := c.Verify(cmd.Context(), repair, everyFewSeconds(time.Now, func(done, total int) {
					fmt.Fprintf(os.Stderr, "checked %d of %d\n", done, total)
				}))
				left := tellVerify(cmd, report)
				if err != nil {
					return err
				}
				if left > 0 && !repair {
					return fmt.Errorf("%s damaged; `frontier cache verify --repair` deletes them, and sweeps make them again", are(left))
				}
				if left > 0 {
					return fmt.Errorf("%s damaged and in use; end the sweeps that use them and run this again", are(left))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "delete damaged artifacts; they are made again when they are needed")
	return cmd
}

func are(n int) string {
	if n == 1 {
		return "1 artifact is"
	}
	return fmt.Sprintf("%d artifacts are", n)
}

// everyFewSeconds passes on news that come too fast for people.
func everyFewSeconds(now func() time.Time, tell func(done, total int)) func(done, total int) {
	last := now()
	return func(done, total int) {
		if t := now(); t.Sub(last) > linePause {
			last = t
			tell(done, total)
		}
	}
}

// tellVerify prints the report and returns how many damaged artifacts are still there.
func tellVerify(cmd *cobra.Command, r cas.VerifyReport) (left int) {
	out := cmd.OutOrStdout()
	for _, d := range r.Damaged {
		did := ""
		if d.Deleted {
			did = ", deleted"
		} else {
			left++
		}
		fmt.Fprintf(out, "damaged %s  %s%s\n", d.Key, d.Meta.Stage.Describe(), did)
		for _, f := range d.Faults {
			fmt.Fprintf(out, "  %s\n", f)
		}
	}
	fmt.Fprintf(out, "checked %s, %s: %d damaged\n", count(r.Checked, "artifact"), shown(r.Bytes), len(r.Damaged))
	if r.OtherFormat > 0 {
		fmt.Fprintf(out, "%s of other versions of frontier not checked; sweeps make them again, and `frontier cache gc` deletes them\n", count(r.OtherFormat, "artifact"))
	}
	return left
}
