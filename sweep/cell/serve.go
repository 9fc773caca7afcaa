package cell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"frontier/embedders"
	"frontier/indexes"

	"golang.org/x/sys/unix"
)

// Registry is what a cell can run.
type Registry struct {
	Engines   []indexes.Engine
	Embedders []embedders.Kind
}

// Serve answers the request on in, and the commands that follow a request to measure, with frames on out, and returns the
// exit code of the process: 0 also for an error that the reply told. When in ends before the work does, the parent is
// gone; Serve then calls exit, since an engine's C++ code cannot be stopped in any other way.
func Serve(in io.Reader, out io.Writer, reg Registry, exit func(code int)) int {
	var req Request
	if err := ReadFrame(in, &req); err != nil {
		fmt.Fprintf(os.Stderr, "cell: read the request: %v\n", err)
		return 1
	}
	ctx := context.Background()
	commands := make(chan command)
	go func() {
		defer close(commands)
		_ = readCommands(ctx, in, commands) // whatever ends the reading, the parent is gone
		exit(1)
	}()
	if req.MemoryLimit > 0 {
		if err := limitData(req.MemoryLimit); err != nil {
			fmt.Fprintf(os.Stderr, "cell: %v\n", err) // the guard is there nevertheless
		}
		go guardMemory(req.MemoryLimit, func(message string) {
			_ = WriteFrame(out, Reply{Error: message, OutOfMemory: true}) // the exit code tells as well
			exit(1)
		})
	}
	err := refuse(req)
	if err == nil {
		switch {
		case req.Build != nil:
			err = serveBuild(ctx, req.Build, reg, out)
		case req.Measure != nil:
			err = serveSession(ctx, req.Measure, reg, commands, out)
		default:
			err = errors.New("the request asks for nothing")
		}
	}
	var broken *writeError
	if err != nil && !errors.As(err, &broken) {
		err = reply(out, Reply{Error: err.Error(), OutOfMemory: outOfMemory(err), DiskFull: diskFull(err)})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cell: write the reply: %v\n", err)
		return 1
	}
	return 0
}

// command is a Command with the context of its visit.
type command struct {
	Command
	ctx    context.Context
	cancel context.CancelFunc
}

// readCommands passes commands on, but for those to stop, which end the context of the visit that they are about.
func readCommands(ctx context.Context, in io.Reader, to chan<- command) error {
	visits := 0
	var last context.CancelFunc
	for {
		var c Command
		if err := ReadFrame(in, &c); err != nil {
			return err
		}
		if c.Stop > 0 {
			if c.Stop == visits {
				last()
			}
			continue
		}
		next := command{Command: c}
		if c.Visit != nil {
			visits++
			next.ctx, next.cancel = context.WithCancel(ctx)
			last = next.cancel
		}
		to <- next
	}
}

// refuse tells a parent of another build.
func refuse(req Request) error {
	if req.Protocol != Protocol {
		return fmt.Errorf("this build of frontier speaks version %d of the protocol between a sweep and its cells, and was asked in version %d: compare builds that are nearer to each other", Protocol, req.Protocol)
	}
	return nil
}

// writeError is a reply that could not be written.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

func reply(out io.Writer, r Reply) error {
	if err := WriteFrame(out, r); err != nil {
		return &writeError{err}
	}
	return nil
}

func serveBuild(ctx context.Context, req *BuildRequest, reg Registry, out io.Writer) error {
	built, err := build(ctx, req, reg.Engines)
	if err != nil {
		return err
	}
	return reply(out, Reply{Built: built})
}

func serveSession(ctx context.Context, req *MeasureRequest, reg Registry, commands <-chan command, out io.Writer) error {
	s, loaded, err := openSession(ctx, req, reg)
	if err != nil {
		return err
	}
	defer s.close()
	if err := reply(out, Reply{Loaded: loaded}); err != nil {
		return err
	}
	for c := range commands {
		switch {
		case c.Done:
			return nil
		case c.Visit == nil:
			return errors.New("the command asks for nothing")
		}
		visited, err := s.visit(c.ctx, *c.Visit)
		c.cancel()
		if err != nil {
			return err
		}
		if err := reply(out, Reply{Visited: visited}); err != nil {
			return err
		}
	}
	return nil
}

// outOfMemory and diskFull know what an error is about. Errors of C++ libraries are nothing but text.
func outOfMemory(err error) bool {
	return errors.Is(err, unix.ENOMEM) || mentions(err, "bad_alloc", "cannot allocate memory")
}

func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || mentions(err, "no space left on device")
}

func mentions(err error, texts ...string) bool {
	lower := strings.ToLower(err.Error())
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(lower, t) })
}
