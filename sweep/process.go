package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"frontier/sweep/cell"
)

// stderrTail is how much of what a cell printed is kept: enough for the report of a crash, whose cause comes first.
const stderrTail = 64 << 10

// cellError is a cell that failed: it told an error, or it died.
type cellError struct {
	Status string // error, crashed, timeout, or killed
	Msg    string
	Stderr string // what the process printed that may explain it; see excerpt
}

func (e *cellError) Error() string {
	if e.Stderr == "" {
		return e.Msg
	}
	return e.Msg + "; it printed: " + e.Stderr
}

// runCell starts a process, sends it the request and waits for the reply. The process ends with the context, and, since
// it reads its request pipe, with this process.
func runCell(ctx context.Context, command func() *exec.Cmd, req cell.Request, limit time.Duration, progress func(string)) (cell.Reply, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errCellTime)
		defer cancel()
	}
	requestRead, requestWrite, err := os.Pipe()
	if err != nil {
		return cell.Reply{}, err
	}
	replyRead, replyWrite, err := os.Pipe()
	if err != nil {
		return cell.Reply{}, errors.Join(err, requestRead.Close(), requestWrite.Close())
	}
	defer requestWrite.Close()
	defer replyRead.Close()
	cmd := command()
	cmd.Env = append(cmd.Environ(), cell.Env+"=1")
	cmd.ExtraFiles = []*os.File{requestRead, replyWrite} // descriptors 3 and 4
	// A Ctrl-C on the terminal reaches a whole process group. The cell has one of its own, so that it is this process that
	// decides what becomes of it, and an interruption never looks like a crash.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var printed tail
	cmd.Stdout, cmd.Stderr = &printed, &printed
	err = cmd.Start()
	closeErr := errors.Join(requestRead.Close(), replyWrite.Close()) // the child has its own now
	if err != nil {
		return cell.Reply{}, fmt.Errorf("start a cell: %w", err)
	}
	// Before the request, for a cell takes no memory until it has read it.
	if group := limitMemory(cmd.Process.Pid, req.MemoryLimit); group != nil {
		defer group.close()
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // fails only if it has ended already
	defer stop()
	reply, talkErr := converse(requestWrite, replyRead, req, progress)
	_ = requestWrite.Close() // a child that still runs ends now
	waitErr := cmd.Wait()
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errCellTime):
		return cell.Reply{}, &cellError{Status: "timeout", Msg: fmt.Sprintf("took longer than limits.cell_time (%v)", limit)}
	case ctx.Err() != nil:
		return cell.Reply{}, ctx.Err()
	case talkErr == nil && reply.DiskFull:
		return cell.Reply{}, fmt.Errorf("%s: %w", reply.Error, syscall.ENOSPC)
	case talkErr == nil && reply.OutOfMemory:
		return cell.Reply{}, &cellError{Status: "killed", Msg: reply.Error}
	case talkErr == nil && reply.Error != "":
		return cell.Reply{}, &cellError{Status: "error", Msg: reply.Error}
	case talkErr == nil:
		return reply, closeErr
	case waitErr != nil:
		return cell.Reply{}, &cellError{Status: died(waitErr, printed.String(), req.MemoryLimit > 0), Msg: fmt.Sprintf("the process died (%v)", waitErr), Stderr: excerpt(printed.String())}
	}
	return cell.Reply{}, &cellError{Status: "error", Msg: fmt.Sprintf("the process ended without a reply (%v)", talkErr), Stderr: excerpt(printed.String())}
}

var errCellTime = errors.New("the cell's time is up")

// limitMemory puts a process into a control group of its own, if there is a limit and the system allows it; else nil.
func limitMemory(pid int, limit int64) *memoryGroup {
	if limit <= 0 {
		return nil
	}
	group := newMemoryGroup(limit)
	if group == nil {
		return nil
	}
	if group.add(pid) != nil {
		group.close()
		return nil
	}
	return group
}

func converse(w, r *os.File, req cell.Request, progress func(string)) (cell.Reply, error) {
	if err := cell.WriteFrame(w, req); err != nil {
		return cell.Reply{}, err
	}
	for {
		var reply cell.Reply
		if err := cell.ReadFrame(r, &reply); err != nil {
			return cell.Reply{}, err
		}
		if reply.Progress == "" {
			return reply, nil
		}
		progress(reply.Progress)
	}
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*stderrTail {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-stderrTail:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if len(b) > stderrTail {
		b = b[len(b)-stderrTail:]
	}
	return string(bytes.TrimSpace(b))
}
