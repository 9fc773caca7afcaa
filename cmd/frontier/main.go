// Command frontier sweeps retrieval configurations and keeps the ones worth deploying.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"frontier/bench/cost"
	"frontier/chunkers"
	"frontier/datasets"
	"frontier/embedders"
	"frontier/indexes/engines"
	"frontier/internal/kernels"
	"frontier/results/gate"
	"frontier/sweep"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// The exit codes that the documentation promises.
const (
	exitGood        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitGate        = 3
	exitIncomplete  = 4
	exitInterrupted = 130
)

func main() { os.Exit(run()) }

func run() int {
	if os.Getenv(cell.Env) != "" {
		return cell.Serve(os.NewFile(cell.RequestFD, "request"), os.NewFile(cell.ReplyFD, "reply"),
			cell.Registry{Engines: engines.All(), Embedders: embedders.Kinds()}, os.Exit)
	}
	if err := kernels.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "frontier: "+err.Error())
		return exitUsage
	}
	ctx, stop := interruptible()
	defer stop()
	err := newRoot().ExecuteContext(ctx)
	code, text := outcome(err, ctx.Err() != nil)
	if text != "" {
		fmt.Fprintln(os.Stderr, "frontier: "+text)
	}
	return code
}

// outcome is the exit code that err, which may be nil, ends the process with, and what is to be said of it; "" if that was
// done already.
func outcome(err error, interrupted bool) (code int, text string) {
	if err == nil {
		return exitGood, ""
	}
	code, text = exitFailed, explain(err)
	var wanted exitError
	switch {
	case errors.As(err, &wanted):
		code = wanted.code
		if wanted.err == nil {
			text = ""
		}
	case isBadInput(err):
		code = exitUsage
	}
	if interrupted && errors.Is(err, context.Canceled) {
		code = exitInterrupted // not every command has something to say of it, and none is at fault
	}
	return code, text
}

// interruptible gives a context that the first Ctrl-C ends, so that what is finished is saved. The second ends the
// process.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "\nfrontier: stopping; what is under way is being finished and saved (press Ctrl-C again to leave at once)")
		cancel()
		<-signals
		os.Exit(exitInterrupted)
	}()
	return ctx, cancel
}

// exitError asks for an exit code of its own.
type exitError struct {
	code int
	err  error // nil if everything was said already
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// usage marks an error as one of the command line.
func usage(err error) error { return exitError{exitUsage, err} }

// isBadInput says whether err is about what the user gave: the sweep file, or the data and prices that it names.
func isBadInput(err error) bool {
	var inFile *file.Error
	var inData *datasets.Error
	var inPrices *cost.Error
	var inPolicy *gate.Error
	var inOptions *sweep.OptionError
	return errors.As(err, &inOptions) || errors.As(err, &inFile) || errors.As(err, &inData) || errors.As(err, &inPrices) || errors.As(err, &inPolicy)
}

// explain is the message with the line of the sweep file under it, where there is one.
func explain(err error) string {
	var many file.Errors
	if errors.As(err, &many) {
		return many.Detail()
	}
	return err.Error()
}

// registry is everything that this binary has.
func registry() file.Registry {
	return file.Registry{Chunkers: chunkers.Kinds(), Embedders: embedders.Kinds(), Engines: engines.All()}
}
