package main

import (
	"errors"
	"fmt"
	"os"

	"frontier/bench/machine"
	"frontier/bench/machine/doctor"
	"frontier/indexes/engines"

	"github.com/spf13/cobra"
)

func newDoctor() *cobra.Command {
	var format, cache string
	var quick, wait bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say how fit this machine is for measuring, and what to change",
		Long: "Looks at how this machine is set up, how quiet it is and how fast its parts are, and measures how small a difference\n" +
			"can be seen on it, in less than 15 seconds. While a sweep measures nothing is timed, so that neither spoils the other.",
		Example: "  frontier doctor --quick",
		Args:    exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			lock := machine.TryLock
			if wait {
				lock = func() (func(), bool, error) { return waitForLock(cmd) }
			}
			report, err := doctor.Examine(cmd.Context(), doctor.Options{
				Root: "/", CacheDir: cache, Engines: doctorEngines(), Getenv: os.Getenv, Quick: quick, Lock: lock,
			})
			switch {
			case cmd.Context().Err() != nil:
				return exitError{exitInterrupted, errors.New("interrupted before this machine was examined")}
			case err != nil:
				return err
			}
			return report.Write(cmd.OutOrStdout(), format)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&cache, "cache", defaultCache(), "folder whose disk is measured")
	flags.BoolVar(&quick, "quick", false, "take less than 3 seconds, with coarser figures")
	flags.BoolVar(&wait, "wait", false, "wait until no sweep measures on this machine")
	addFormat(cmd, &format)
	return cmd
}

// waitForLock waits until no sweep measures, and says so if it has to.
func waitForLock(cmd *cobra.Command) (release func(), ok bool, err error) {
	release, err = machine.Lock(cmd.Context(), func() {
		fmt.Fprintln(cmd.ErrOrStderr(), "frontier: waiting until the sweep on this machine has measured its cell")
	})
	return release, err == nil, err
}

// doctorEngines is the table of engines as doctor takes it, which knows no engine itself.
func doctorEngines() []doctor.Engine {
	var list []doctor.Engine
	for _, e := range engines.All() {
		d := doctor.Engine{Name: e.Name, Absent: e.Absent}
		if e.Absent == "" {
			d.Version = e.Version()
			if e.Details != nil {
				d.Details = e.Details()
			}
		}
		list = append(list, d)
	}
	return list
}
