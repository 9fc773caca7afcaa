package sweep

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"frontier/sweep/cell"
)

// session is a cell that is loaded and waits for visits.
type session struct {
	process *cellProcess
	loaded  *cell.Loaded
	loading time.Duration // with the start of the process
	spent   time.Duration // on visits
	visits  int
	// hurry, if not nil, ends when the user wants to go; a visit then has patience left.
	hurry    context.Context
	patience time.Duration
}

// openSession starts a cell and lets it load.
func openSession(ctx context.Context, command func() *exec.Cmd, req *cell.MeasureRequest, memory int64, limit time.Duration) (*session, error) {
	begun := time.Now()
	p, err := startCell(ctx, command, memory, limit)
	if err != nil {
		return nil, err
	}
	reply, err := p.call(cell.Request{Protocol: cell.Protocol, MemoryLimit: memory, Measure: req})
	if err != nil {
		p.close()
		return nil, err
	}
	if reply.Loaded == nil || len(reply.Loaded.Points) != len(req.Points) {
		p.close()
		return nil, errors.New("the cell's reply is not that of its loaded points")
	}
	return &session{process: p, loaded: reply.Loaded, loading: time.Since(begun)}, nil
}

// visit lets the cell measure a point. One that outlasts the patience of who wants to go comes back stopped.
func (s *session) visit(v cell.Visit) (*cell.Visited, error) {
	s.visits++
	if s.hurry != nil {
		defer s.stopLater(s.visits)()
	}
	reply, err := s.process.call(cell.Command{Visit: &v})
	if err != nil {
		return nil, err
	}
	if reply.Visited == nil {
		return nil, errors.New("the cell's reply is not that of a visit")
	}
	s.spent += reply.Visited.Spent
	return reply.Visited, nil
}

// stopLater tells the cell to stop a visit when patience is over, unless what it returns is called before.
func (s *session) stopLater(visit int) (never func()) {
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
			return
		case <-s.hurry.Done():
		}
		timer := time.NewTimer(s.patience)
		defer timer.Stop()
		select {
		case <-over:
		case <-timer.C:
			_ = cell.WriteFrame(s.process.to, cell.Command{Stop: visit}) // a cell that has ended has stopped
		}
	}()
	return func() { close(over) }
}

func (s *session) close() { s.process.close() }
