package bleve

import (
	"fmt"
	"sync"

	"github.com/blevesearch/bleve/v2/search"
)

// setting is the two numbers of BM25.
type setting struct{ k1, b float64 }

// scoring guards bleve's package variables k1 and b. They are read by every search in the process, so indexes with
// different settings cannot be open at the same time.
var scoring guard

type guard struct {
	mu   sync.Mutex
	open int
	now  setting
}

// acquire makes want the setting of the process, unless another one is in use.
func (g *guard) acquire(want setting) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open > 0 && g.now != want {
		return fmt.Errorf("bleve keeps k1 and b for the whole process, and an index with k1 = %v, b = %v is open: close it before loading one with k1 = %v, b = %v, or load that in a process of its own",
			g.now.k1, g.now.b, want.k1, want.b)
	}
	if g.open == 0 {
		g.now = want
		search.BM25_k1, search.BM25_b = want.k1, want.b
	}
	g.open++
	return nil
}

func (g *guard) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
}
