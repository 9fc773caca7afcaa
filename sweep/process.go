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

// cellProcess is a child that is spoken with. It ends with its context, and, since it reads its pipe, with this process.
type cellProcess struct {
	ctx         context.Context
	cmd         *exec.Cmd
	to, from    *os.File
	printed     *tail
	limit       time.Duration
	memoryLimit int64
	release     []func() // in reverse
	ended       bool
	stopped     error // why the context had ended when the process had, if it had
}

// startCell starts a cell, which has limit to live (0: no limit) and waits for a request.
func startCell(ctx context.Context, command func() *exec.Cmd, memoryLimit int64, limit time.Duration) (*cellProcess, error) {
	requestRead, requestWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	replyRead, replyWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, requestRead.Close(), requestWrite.Close())
	}
	p := &cellProcess{ctx: ctx, cmd: command(), to: requestWrite, from: replyRead, printed: &tail{}, limit: limit, memoryLimit: memoryLimit}
	if limit > 0 {
		var cancel context.CancelFunc
		p.ctx, cancel = context.WithTimeoutCause(ctx, limit, errCellTime)
		p.release = append(p.release, cancel)
	}
	p.cmd.Env = append(p.cmd.Environ(), cell.Env+"=1")
	p.cmd.ExtraFiles = []*os.File{requestRead, replyWrite} // descriptors 3 and 4
	// A Ctrl-C on the terminal reaches a whole process group. The cell has one of its own, so that it is this process that
	// decides what becomes of it, and an interruption never looks like a crash.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stdout, p.cmd.Stderr = p.printed, p.printed
	err = p.cmd.Start()
	closeErr := errors.Join(requestRead.Close(), replyWrite.Close()) // the child has its own now
	if err != nil {
		p.ended = true
		p.free()
		return nil, fmt.Errorf("start a cell: %w", err)
	}
	// Before the request, for a cell takes no memory until it has read it.
	if group := limitMemory(p.cmd.Process.Pid, memoryLimit); group != nil {
		p.release = append(p.release, group.close)
	}
	stop := context.AfterFunc(p.ctx, p.kill)
	p.release = append(p.release, func() { stop() })
	if closeErr != nil {
		p.kill()
		_ = p.wait() // it was killed
		return nil, fmt.Errorf("start a cell: %w", closeErr)
	}
	return p, nil
}

func (p *cellProcess) kill() { _ = p.cmd.Process.Kill() } // fails only if it has ended already

// wait waits until the process has ended and frees what belongs to it.
func (p *cellProcess) wait() error {
	if p.ended {
		return nil
	}
	p.ended = true
	err := p.cmd.Wait()
	p.stopped = context.Cause(p.ctx)
	p.free() // which ends the context
	return err
}

func (p *cellProcess) free() {
	for i := len(p.release) - 1; i >= 0; i-- {
		p.release[i]()
	}
	_ = p.to.Close() // the process has ended: there is nothing more to say or to hear
	_ = p.from.Close()
}

// call sends a message and waits for its reply. After an error the process has ended.
func (p *cellProcess) call(message any) (cell.Reply, error) {
	var reply cell.Reply
	err := cell.WriteFrame(p.to, message)
	if err == nil {
		err = cell.ReadFrame(p.from, &reply)
	}
	if err == nil && reply.Error == "" {
		return reply, nil
	}
	_ = p.to.Close() // a child that still runs ends now
	return cell.Reply{}, p.failure(reply, err, p.wait())
}

// failure says what became of a cell that told an error, or broke off the talk with talkErr.
func (p *cellProcess) failure(reply cell.Reply, talkErr, waitErr error) error {
	switch {
	case errors.Is(p.stopped, errCellTime):
		return &cellError{Status: "timeout", Msg: fmt.Sprintf("took longer than limits.cell_time (%v)", p.limit)}
	case p.stopped != nil:
		return context.Canceled // whoever ended the context knows why
	case talkErr == nil && reply.DiskFull:
		return fmt.Errorf("%s: %w", reply.Error, syscall.ENOSPC)
	case talkErr == nil && reply.OutOfMemory:
		return &cellError{Status: "killed", Msg: reply.Error}
	case talkErr == nil:
		return &cellError{Status: "error", Msg: reply.Error}
	case waitErr != nil:
		printed := p.printed.String()
		return &cellError{Status: died(waitErr, printed, p.memoryLimit > 0), Msg: fmt.Sprintf("the process died (%v)", waitErr), Stderr: excerpt(printed)}
	}
	return &cellError{Status: "error", Msg: fmt.Sprintf("the process ended without a reply (%v)", talkErr), Stderr: excerpt(p.printed.String())}
}

// close lets the process end by itself, but not for ever.
func (p *cellProcess) close() {
	if p.ended {
		return
	}
	defer time.AfterFunc(graceTime, p.kill).Stop()
	_ = cell.WriteFrame(p.to, cell.Command{Done: true}) // one that has ended already needs no word
	_ = p.wait()                                        // all that it had to say has been said
}

// graceTime is what an engine gets for closing its index.
const graceTime = 10 * time.Second

// runCell starts a cell for one request and its reply.
func runCell(ctx context.Context, command func() *exec.Cmd, req cell.Request, limit time.Duration) (cell.Reply, error) {
	p, err := startCell(ctx, command, req.MemoryLimit, limit)
	if err != nil {
		return cell.Reply{}, err
	}
	defer p.close()
	req.Protocol = cell.Protocol
	return p.call(req)
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
