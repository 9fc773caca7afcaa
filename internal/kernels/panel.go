package kernels

import "math"

// The kernel that compares many queries with many rows works like the inner part of a matrix product: a Panel holds
// some queries side by side, a Tile rows, and the products of a group of rows with the panel stay in registers. They are
// not written to memory unless one of them reaches the limit of its query.

// Shape is the tile of registers of a variant: a group of Rows rows is compared with Queries queries at once.
type Shape struct{ Rows, Queries int }

// TileShape is the shape that the variant in use has. Queries is at most 32.
func TileShape() Shape { return active.tile }

// Panel is TileShape().Queries queries of dim values, value by value: all first values, then all second ones.
type Panel struct {
	shape  Shape
	dim    int
	values []float32
}

// NewPanel is a panel of zeros.
func NewPanel(dim int) *Panel { return newPanel(&active, dim) }

func newPanel(v *variant, dim int) *Panel {
	return &Panel{v.tile, dim, make([]float32, dim*v.tile.Queries)}
}

// Set makes query, of dim values, the j-th of the panel.
func (p *Panel) Set(j int, query []float32) {
	at := j
	for _, v := range query[:p.dim] {
		p.values[at] = v
		at += p.shape.Queries
	}
}

// Tile is up to Cap rows, packed so that they stay in cache while all panels are compared with them.
type Tile struct {
	kernels             *variant
	dim, stride, groups int
	values              []float32
	offsets             []float32
}

// lineFloats is how many values a cache line holds.
const lineFloats = 16

// NewTile is a tile for at least one and about size bytes of rows of dim values.
func NewTile(size, dim int) *Tile { return newTile(&active, size, dim) }

func newTile(v *variant, size, dim int) *Tile {
	stride := tileStride(dim)
	rows := tileGroups(v, size, dim) * v.tile.Rows
	return &Tile{kernels: v, dim: dim, stride: stride, values: make([]float32, rows*stride), offsets: make([]float32, rows)}
}

// tileStride puts rows an odd number of cache lines apart, so that the rows of a group do not compete for the same set.
func tileStride(dim int) int {
	return ((dim+lineFloats-1)/lineFloats | 1) * lineFloats
}

func tileGroups(v *variant, size, dim int) int {
	return max(size/(4*tileStride(dim)*v.tile.Rows), 1)
}

// TileRows is the Cap of a Tile.
func TileRows(size, dim int) int { return tileGroups(&active, size, dim) * active.tile.Rows }

// TileBytes is what a Tile and the Sifted that goes with it hold in memory.
func TileBytes(size, dim int) int {
	return TileRows(size, dim) * (4*(tileStride(dim)+1+active.tile.Queries) + hitBytes)
}

// Cap is how many rows the tile has room for.
func (t *Tile) Cap() int { return len(t.offsets) }

// Pack makes (row-mean)*scale the i-th row, each value rounded after the subtraction and after the product, and returns
// the sum of its squares, which is within dim roundings of float32 of the exact one. row and mean hold dim values.
func (t *Tile) Pack(i int, row, mean []float32, scale float32) float32 {
	return t.kernels.pack(t.values[i*t.stride:i*t.stride+t.dim], row[:t.dim], mean[:t.dim], scale)
}

// Row is what the i-th row was packed as. It is not to be changed.
func (t *Tile) Row(i int) []float32 { return t.values[i*t.stride:][:t.dim] }

// Pack is Tile.Pack into a slice.
func Pack(dst, row, mean []float32, scale float32) float32 {
	return active.pack(dst[:len(row)], row, mean[:len(row)], scale)
}

// SetOffset says what is added to the scores of the i-th row.
func (t *Tile) SetOffset(i int, offset float32) { t.offsets[i] = offset }

// SetRows says how many rows were packed.
func (t *Tile) SetRows(n int) {
	group := t.kernels.tile.Rows
	t.groups = (n + group - 1) / group
	for i := n; i < t.groups*group; i++ {
		t.offsets[i] = float32(math.Inf(-1))
	}
}

// Sifted is what is left of the scores of a tile with a panel: those of the rows of which at least one score is not less
// than the limit of its query.
type Sifted struct {
	shape  Shape
	scores []float32 // shape.Queries of each hit
	hits   []hit
	n      int // hits
}

// hit is a row that has scores left, and a bit for each query whether its score is one of them.
type hit struct{ row, mask uint32 }

// hitBytes is what a hit takes.
const hitBytes = 8

// NewSifted has room for what is left of t.
func NewSifted(t *Tile) *Sifted {
	rows, shape := t.Cap(), t.kernels.tile
	return &Sifted{shape: shape, scores: make([]float32, rows*shape.Queries), hits: make([]hit, rows)}
}

// Sift compares the rows of t with the queries of p: the score of a row and a query is their inner product, added up in
// float32 in the order of the dimensions, plus the offset of the row. What is less than the query's limit is left out; a
// score that is not a number is not. limits holds a value for each query of the panel. The error of the inner product is
// at most dim roundings of float32 relative to the sum of the magnitudes of the products.
func (s *Sifted) Sift(p *Panel, t *Tile, limits []float32) {
	s.n = 0
	if t.groups > 0 {
		s.n = t.kernels.sift(p, t, limits[:s.shape.Queries], s)
	}
}

// Rows is how many rows of the tile have scores left.
func (s *Sifted) Rows() int { return s.n }

// Row is the place in the tile of the i-th of Rows, which of its scores are left (bit j for query j, at least one), and
// the scores. It may be a row beyond those that were packed.
func (s *Sifted) Row(i int) (row int, mask uint32, scores []float32) {
	return int(s.hits[i].row), s.hits[i].mask, s.scores[i*s.shape.Queries : (i+1)*s.shape.Queries]
}
