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
	spent   time.Duration // on visits
}

// openSession starts a cell and lets it load.
func openSession(ctx context.Context, command func() *exec.Cmd, req *cell.MeasureRequest, memory int64, limit time.Duration) (*session, error) {
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
	return &session{process: p, loaded: reply.Loaded}, nil
}

func (s *session) visit(v cell.Visit) (*cell.Visited, error) {
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

func (s *session) close() { s.process.close() }
