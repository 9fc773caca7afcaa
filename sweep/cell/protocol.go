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

// Protocol is the version of the messages. It rises when one changes its meaning, so that a parent and a cell of
// different builds of frontier, as "frontier ab --bin" runs them, notice.
const Protocol = 3

// Request is the first frame that a parent sends. Exactly one of Build and Measure is set. A build is answered with
// Built; measuring is answered with Loaded, and Commands follow.
type Request struct {
	Protocol    int
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

// Load is how queries are sent.
type Load struct {
	Mode     string        // closed or open
	Clients  int           // that ask back to back; of an open loop, queries that are served at a time
	Rate     float64       `json:",omitempty"` // arrivals a second of an open loop
	Constant bool          `json:",omitempty"` // arrivals at equal distances, not at random
	MaxWait  time.Duration `json:",omitempty"` // an arrival that waited longer is dropped; 0 means load.DefaultMaxWait
	Timeout  time.Duration `json:",omitempty"` // a query that takes longer counts as failed; 0 means none
}

// The modes of a load.
const (
	Closed = "closed"
	Open   = "open"
)

// Point is one setting of a loaded cell under one load.
type Point struct {
	ID     string
	Search []param.Values // of each part
	Fusion hybrid.Fusion  // of a hybrid; the zero Fusion for a cell of one part
	Load   string         // a name of the load: points with the same parameters in effect and the same Load are one
	Most   int            // clients at most
	Open   bool           // arrivals at a rate
	Filter *PointFilter   `json:",omitempty"`
}

// MeasureRequest asks for the indexes of one cell to be loaded. Either Queries or QueryVectors is set.
type MeasureRequest struct {
	Parts        []Part
	Embedder     string // "" if no part needs vectors or they are given
	EmbedParams  param.Values
	Model        string // folder of the fitted embedder
	Queries      string // JSON array of strings
	QueryVectors string // fbin
	Chunks       string // needed for the unit document
	Documents    int    // > 0: ask for more rows until so many documents are found
	Filters      string `json:",omitempty"` // file of Filters; "" if every query may get every row
	Least        int    `json:",omitempty"` // with Filters and without Documents: ask for more until so many rows are left
	Depth        int
	Points       []Point
	Seed         uint64
	Threads      int
	Dir          string // where the answers go
	Check        *Check `json:",omitempty"`
}

// Check asks for the answers to the first queries with search parameters that are no point's: hnswlib's check of how well
// a graph was built asks for the M nearest with ef at efConstruction.
type Check struct {
	Search  param.Values
	Depth   int
	Queries int // at most so many
}

// Loaded says that a cell is ready to be measured.
type Loaded struct {
	LoadSeconds  float64
	ServingBytes *int64 // anonymous memory that the loaded indexes take; nil where the system does not tell
	MappedBytes  *int64 // file-backed memory that they take
	IndexBytes   int64
	Overhead     float64 // seconds a query that the harness itself takes in a closed loop
	OverheadOpen float64 `json:",omitempty"` // and in an open one, if a point has one
	Queries      int
	Points       []LoadedPoint // of each point of the request
	Check        string        `json:",omitempty"` // Arrow file of the answers that Check asked for
}

// LoadedPoint is a point as the engines took it.
type LoadedPoint struct {
	Effective []param.Values // of each part
	Warnings  []string
	// FilterMode is that of the point's filter in effect; "" without one.
	FilterMode string `json:",omitempty"`
	SameAs     int    // the first point with the same parameters in effect and the same load: its own place if there is none before
}

// Command is a frame that follows a request to measure. Exactly one field is set.
type Command struct {
	Visit *Visit `json:",omitempty"`
	// Stop ends the visit of this number, counted from 1, if it is under way: the answer is a Visited that is Stopped. Of one
	// that has ended before the word came there is no other answer.
	Stop int  `json:",omitempty"`
	Done bool `json:",omitempty"` // close the indexes and end
}

// Visit asks for one stretch of load on one point.
type Visit struct {
	Point    int // place in the request
	Load     Load
	Seed     uint64        `json:",omitempty"` // of the arrivals of an open loop
	Start    int           // where in the seeded order of the queries to begin
	Count    int           `json:",omitempty"` // > 0: exactly so many queries, however long they take
	EachOnce bool          `json:",omitempty"` // go on until every query was asked once
	Keep     bool          `json:",omitempty"` // write the first answer to each query to a file
	Warmup   time.Duration // unmeasured time before
	MinTime  time.Duration // measured time, at least
	MaxTime  time.Duration `json:",omitempty"` // measured time at most, EachOnce or not; 0 means any
}

// Visited is what one visit measured.
type Visited struct {
	Stopped   bool   `json:",omitempty"` // before its end: not all queries that were due were answered, and nothing of it counts
	Histogram []byte // HdrHistogram V2, compressed, nanoseconds, from the arrival of each query
	Service   []byte `json:",omitempty"` // the same from when each was sent; only of an open loop
	Load      Load   // as it was sent
	Samples   int64
	Errors    int64
	TimedOut  int64         // of the errors
	Dropped   int64         `json:",omitempty"` // arrivals that could not start
	Late      int64         `json:",omitempty"` // arrivals that the harness started late
	Waited    int64         `json:",omitempty"` // arrivals for which a client waited
	Overslept time.Duration `json:",omitempty"` // by how much these were sent too late, in sum
	Total     time.Duration // of all latencies
	Longest   time.Duration
	Wall      time.Duration
	Spent     time.Duration // with the warm-up
	Next      int           // where the next visit should begin
	Answers   string        `json:",omitempty"` // Arrow file of answers, one a query
	Stages    []string      `json:",omitempty"` // whose times the answers have
	Error     string        `json:",omitempty"` // the first error of a query
	Noise     Noise
}

// Noise is what disturbed a visit. What the system does not tell is nil.
type Noise struct {
	Reasons     []string      `json:",omitempty"` // why the visit is worth repeating; none if it can stand
	Warnings    []string      `json:",omitempty"` // what a reader should know of it, in sentences
	Steal       *float64      `json:",omitempty"` // share of processor time that the machine took away
	Clock       *float64      `json:",omitempty"` // clock speed over its highest
	Calibration time.Duration // of the calibration kernel before the visit; 0 if it did not run
	After       time.Duration // and after it
}

// Reply is a frame that a cell sends. Exactly one field is set; Built and Error end the conversation.
type Reply struct {
	Built   *BuildReport `json:",omitempty"`
	Loaded  *Loaded      `json:",omitempty"`
	Visited *Visited     `json:",omitempty"`
	Error   string       `json:",omitempty"`
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
