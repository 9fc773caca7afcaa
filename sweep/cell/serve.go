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

// Serve answers the one request on in with frames on out and returns the exit code of the process: 0 also for an error
// that the reply told. Once the request is read, the end of in means that the parent is gone; Serve then calls exit,
// since an engine's C++ code cannot be stopped in any other way.
func Serve(in io.Reader, out io.Writer, reg Registry, exit func(code int)) int {
	var req Request
	if err := ReadFrame(in, &req); err != nil {
		fmt.Fprintf(os.Stderr, "cell: read the request: %v\n", err)
		return 1
	}
	go func() {
		var extra [1]byte
		_, _ = in.Read(extra[:]) // nothing follows a request: whatever ends the read, the parent is gone
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
	reply := handle(context.Background(), req, reg, func(text string) {
		_ = WriteFrame(out, Reply{Progress: text}) // a parent that is gone is noticed on the other pipe
	})
	if err := WriteFrame(out, reply); err != nil {
		fmt.Fprintf(os.Stderr, "cell: write the reply: %v\n", err)
		return 1
	}
	return 0
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

func handle(ctx context.Context, req Request, reg Registry, progress func(string)) Reply {
	var reply Reply
	var err error
	switch {
	case req.Build != nil:
		reply.Built, err = build(ctx, req.Build, reg.Engines)
	case req.Measure != nil:
		reply.Measured, err = measure(ctx, req.Measure, reg, progress)
	default:
		err = fmt.Errorf("the request asks for nothing")
	}
	if err != nil {
		return Reply{Error: err.Error(), OutOfMemory: outOfMemory(err), DiskFull: diskFull(err)}
	}
	return reply
}
