package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"frontier/datasets"
)

// An interruption ends with 130 whatever the command made of it, and nothing else does.
func TestOutcome(t *testing.T) {
	canceled := fmt.Errorf("reading results: %w", context.Canceled)
	for name, c := range map[string]struct {
		err         error
		interrupted bool
		code        int
		text        string
	}{
		"good":                   {nil, false, exitGood, ""},
		"good in the end":        {nil, true, exitGood, ""},
		"failed":                 {errors.New("disk"), false, exitFailed, "disk"},
		"bad data":               {&datasets.Error{File: "x", Msg: "bad"}, false, exitUsage, "x: bad"},
		"usage":                  {usage(errors.New("flag")), false, exitUsage, "flag"},
		"said already":           {exitError{code: exitGate}, false, exitGate, ""},
		"interrupted":            {canceled, true, exitInterrupted, "reading results: context canceled"},
		"interrupted, wrapped":   {usage(canceled), true, exitInterrupted, "reading results: context canceled"},
		"failed in the meantime": {errors.New("disk"), true, exitFailed, "disk"},
		"canceled by itself":     {canceled, false, exitFailed, "reading results: context canceled"},
	} {
		if code, text := outcome(c.err, c.interrupted); code != c.code || text != c.text {
			t.Errorf("%s: %d %q, want %d %q", name, code, text, c.code, c.text)
		}
	}
}
