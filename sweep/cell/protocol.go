// Package cell is the child process of a sweep: it builds one index, or loads one and measures it, so that an engine
// that crashes or eats memory takes only itself down, and so that the memory that is reported is that of one engine.
package cell

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"frontier/indexes/hybrid"
	"frontier/internal/param"
	"frontier/internal/vector"
)

// Env marks a process that was started as a cell: the executable then calls Serve before anything else.
const Env = "FRONTIER_CELL"

// The file descriptors of a cell. Libraries print to stdout and stderr; frames have pipes of their own.
const (
	RequestFD = 3
	ReplyFD   = 4
)

// Request is the one frame that a parent sends. Exactly one of Build and Measure is set.
type Request struct {
	MemoryLimit int64           `json:",omitempty"` // anonymous bytes that the process may take; 0 means any
	Build       *BuildRequest   `json:",omitempty"`
	Measure     *MeasureRequest `json:",omitempty"`
}

// Source is what an index is built from and, for engines that map their vectors, served from.
type Source struct {
	Vectors string        // fbin file; "" for lexical engines
	Metric  vector.Metric // "" for lexical engines
	Chunks  string        // Arrow file of chunks; "" for vector engines on vector files
}

// BuildRequest asks for one index to be built and saved into Dir.
type BuildRequest struct {
	Engine  string
	Params  param.Values
	Source  Source
	Seed    uint64
	Threads int
	Dir     string
}

// BuildReport is what building took. It is stored beside the index, so that a row of a cached index still says it.
type BuildReport struct {
	Seconds      float64
	CPUSeconds   float64
	TrainSeconds *float64 // nil if the engine does not train
	MemoryBytes  *int64   // peak of anonymous memory above what the process had before; nil where the system does not tell
	IndexBytes   int64
	Threads      int
	Warnings     []string
}

// Part is one index of a cell; a hybrid has two.
type Part struct {
	Engine string
	Params param.Values
	Source Source
	Dir    string
}

// Point is one setting of a loaded cell under one load.
type Point struct {
	ID      string
	Search  []param.Values // of each part
	Fusion  hybrid.Fusion  // of a hybrid; the zero Fusion for a cell of one part
	Clients int
}

// MeasureRequest asks for the points of one cell. Either Queries or QueryVectors is set.
type MeasureRequest struct {
	Parts        []Part
	Embedder     string // "" if no part needs vectors or they are given
	EmbedParams  param.Values
	Model        string // folder of the fitted embedder
	Queries      string // JSON array of strings
	QueryVectors string // fbin
	Chunks       string // needed for the unit document
	Documents    int    // > 0: ask for more rows until so many documents are found
	Depth        int
	Points       []Point
	Rounds       int
	Warmup       time.Duration
	MinTime      time.Duration
	MaxTime      time.Duration
	Seed         uint64
	Threads      int
	Dir          string // where the answers go
}

// PointReport is what was measured at one point.
type PointReport struct {
	ID          string
	Answers     string // Arrow file of answers, one a query
	Stages      []string
	Effective   []param.Values // of each part
	Warnings    []string
	Histogram   []byte // HdrHistogram V2, compressed, nanoseconds
	Samples     int64
	Errors      int64
	Repetitions int
	QPS         float64   // answers over the wall time of all visits
	VisitQPS    []float64 // of each visit
	Longest     time.Duration
	VisitP50    []time.Duration // of each visit: what differs between them no interval within one can show
	VisitP99    []time.Duration // of each visit with enough samples to tell
	SameAs      string          `json:",omitempty"` // a point with the same parameters in effect, measured together with this one
	Clock       *float64        // lowest clock speed over its highest; nil where it cannot be read
	Steal       *float64        // fraction of processor time that the machine took away; nil where it cannot be read
	Noise       *float64        // calibration kernel: slowest over fastest, less one
}

// MeasureReport is what was measured of one cell.
type MeasureReport struct {
	LoadSeconds  float64
	ServingBytes *int64 // anonymous memory that the loaded indexes take; nil where the system does not tell
	MappedBytes  *int64 // file-backed memory that they take
	IndexBytes   int64
	Overhead     float64 // seconds a query that the harness itself takes
	Spent        float64 // seconds of all visits, warm-up included
	Points       []PointReport
	Warnings     []string
}

// Reply is a frame that a cell sends. Exactly one field is set; Built, Measured and Error end the conversation.
type Reply struct {
	Progress string         `json:",omitempty"`
	Built    *BuildReport   `json:",omitempty"`
	Measured *MeasureReport `json:",omitempty"`
	Error    string         `json:",omitempty"`
	// OutOfMemory says that Error is about the limit of the request.
	OutOfMemory bool `json:",omitempty"`
	// DiskFull says that Error is about a disk without room: nothing else of the sweep could be stored either.
	DiskFull bool `json:",omitempty"`
}

// maxFrame bounds a frame, so that a broken peer cannot make a process allocate without end.
const maxFrame = 256 << 20

// WriteFrame writes v as JSON behind its length, a little-endian uint32.
func WriteFrame(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a frame: %w", err)
	}
	if len(raw) > maxFrame {
		return fmt.Errorf("a frame of %d bytes is over the limit of %d", len(raw), maxFrame)
	}
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(raw)), uint32(len(raw)))
	_, err = w.Write(append(frame, raw...))
	return err
}

// ReadFrame reads what WriteFrame wrote. io.EOF means that the peer closed the pipe between two frames.
func ReadFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size > maxFrame {
		return fmt.Errorf("a frame claims %d bytes, over the limit of %d", size, maxFrame)
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(r, raw); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("a frame of %d bytes broke off: %w", size, err)
	}
	return json.Unmarshal(raw, v)
}
