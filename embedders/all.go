package embedders

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// batchTexts is how many texts a worker takes at a time, and how many rows write gets at most.
const batchTexts = 64

// batch is a run of texts on its way through the workers.
type batch struct {
	first int // position of its first text
	texts []string
	rows  []float32
	done  chan struct{}
}

// EmbedAll embeds the texts, in their order, and hands the vectors to write: rows is one or more whole rows of Dim
// values, row-major, valid during the call. write is called by one goroutine at a time. workers goroutines, at least
// one, embed; a bounded number of texts is in memory. It returns how many rows were written, all of them unless there
// is an error.
func EmbedAll(ctx context.Context, e Embedder, texts Texts, workers int, write func(rows []float32) error) (n int, err error) {
	workers = max(workers, 1)
	g, ctx := errgroup.WithContext(ctx)
	work := make(chan *batch)
	ordered := make(chan *batch, 2*workers) // bounds the batches under way
	g.Go(func() error {
		defer close(work)
		defer close(ordered)
		return readBatches(ctx, texts, work, ordered)
	})
	for range workers {
		g.Go(func() error {
			for b := range work {
				if err := b.embed(e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		for b := range ordered {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := write(b.rows); err != nil {
				return fmt.Errorf("write the vectors from text %d on: %w", b.first, err)
			}
			n += len(b.texts)
		}
		return nil
	})
	err = g.Wait()
	return n, err
}

// readBatches sends every batch to ordered, in order, and to work.
func readBatches(ctx context.Context, texts Texts, work, ordered chan<- *batch) error {
	send := func(b *batch) error {
		for _, to := range []chan<- *batch{ordered, work} {
			select {
			case to <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	next := &batch{done: make(chan struct{})}
	for text, err := range texts() {
		if err != nil {
			return fmt.Errorf("text %d: %w", next.first+len(next.texts), err)
		}
		next.texts = append(next.texts, text)
		if len(next.texts) == batchTexts {
			if err := send(next); err != nil {
				return err
			}
			next = &batch{first: next.first + batchTexts, done: make(chan struct{})}
		}
	}
	if len(next.texts) == 0 {
		return ctx.Err()
	}
	return send(next)
}

func (b *batch) embed(e Embedder) error {
	dim := e.Dim()
	b.rows = make([]float32, dim*len(b.texts))
	for i, text := range b.texts {
		if err := e.Embed(text, b.rows[i*dim:(i+1)*dim]); err != nil {
			return fmt.Errorf("embed text %d: %w", b.first+i, err)
		}
	}
	close(b.done)
	return nil
}
