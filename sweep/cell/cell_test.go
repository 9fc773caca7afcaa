package cell

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"frontier/indexes"
	"frontier/indexes/engines"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/results/arrowfile"
)

func TestFramesRoundTrip(t *testing.T) {
	var pipe bytes.Buffer
	want := Request{Build: &BuildRequest{Engine: "flat", Params: param.Values{"a": "b"}, Seed: 1 << 60, Threads: 2}}
	for range 3 {
		if err := WriteFrame(&pipe, want); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		var got Request
		if err := ReadFrame(&pipe, &got); err != nil {
			t.Fatal(err)
		}
		if got.Build.Engine != "flat" || got.Build.Seed != 1<<60 || got.Measure != nil {
			t.Errorf("read %+v", got.Build)
		}
	}
	var none Request
	if err := ReadFrame(&pipe, &none); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the pipe is %v", err)
	}
}

func TestBrokenFramesAreErrors(t *testing.T) {
	huge := binary.LittleEndian.AppendUint32(nil, maxFrame+1)
	for name, raw := range map[string][]byte{
		"half a length": {1, 0},
		"half a body":   {10, 0, 0, 0, '{'},
		"too large":     huge,
		"not JSON":      append([]byte{3, 0, 0, 0}, "abc"...),
	} {
		var r Reply
		if err := ReadFrame(bytes.NewReader(raw), &r); err == nil || errors.Is(err, io.EOF) && name != "half a length" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	var good bytes.Buffer
	if err := WriteFrame(&good, Reply{Error: "x"}); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r Reply
		if err := ReadFrame(bytes.NewReader(raw), &r); err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteFrame(&again, r); err != nil {
			t.Errorf("a frame that was read cannot be written: %v", err)
		}
	})
}

// serve runs one request and its commands through Serve, as a process would, without being one, and gives the replies.
func serve(t *testing.T, req Request, commands ...Command) []Reply {
	t.Helper()
	in, parent := io.Pipe()
	defer parent.Close()
	req.Protocol = Protocol
	go func() {
		if err := WriteFrame(parent, req); err != nil {
			t.Error(err)
		}
		for _, c := range commands {
			if err := WriteFrame(parent, c); err != nil {
				t.Error(err)
			}
		}
	}()
	var out bytes.Buffer
	code := Serve(in, &out, Registry{Engines: engines.All()}, func(int) {})
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var replies []Reply
	for {
		var reply Reply
		err := ReadFrame(&out, &reply)
		if errors.Is(err, io.EOF) {
			return replies
		}
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, reply)
	}
}

func writeVectors(t *testing.T, path string, rows [][]float32) {
	t.Helper()
	w, err := vector.CreateFbin(path, len(rows[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// flatCell builds a flat index of four vectors and gives what a request to measure it with two queries needs.
func flatCell(t *testing.T) *MeasureRequest {
	t.Helper()
	dir := t.TempDir()
	base, queries, index := filepath.Join(dir, "base.fbin"), filepath.Join(dir, "queries.fbin"), filepath.Join(dir, "index")
	if err := os.Mkdir(index, 0o755); err != nil {
		t.Fatal(err)
	}
	writeVectors(t, base, [][]float32{{0, 0}, {1, 0}, {0, 2}, {5, 5}})
	writeVectors(t, queries, [][]float32{{0.9, 0}, {4, 4}})
	source := Source{Vectors: base, Metric: vector.L2}
	replies := serve(t, Request{Build: &BuildRequest{Engine: "flat", Source: source, Threads: 1, Dir: index}})
	if len(replies) != 1 || replies[0].Built == nil {
		t.Fatalf("replies %+v", replies)
	}
	return &MeasureRequest{
		Parts: []Part{{Engine: "flat", Source: source, Dir: index}}, QueryVectors: queries, Depth: 2, Seed: 1, Threads: 1, Dir: dir,
		Points: []Point{
			{ID: "one", Search: []param.Values{{}}, Load: "1 client", Most: 1},
			{ID: "two", Search: []param.Values{{}}, Load: "2 clients", Most: 2},
			{ID: "same", Search: []param.Values{{}}, Load: "2 clients", Most: 2},
		},
	}
}

func checkAnswers(t *testing.T, path string) {
	t.Helper()
	answers, err := arrowfile.ReadAnswers(path)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int64{{1, 0}, {3, 2}}
	for q, a := range answers {
		if !slices.Equal(a.IDs, want[q]) {
			t.Errorf("query %d got %v, want %v", q, a.IDs, want[q])
		}
	}
	if len(answers) != 2 {
		t.Errorf("%d answers", len(answers))
	}
}

func TestSession(t *testing.T) {
	req := flatCell(t)
	req.Check = &Check{Depth: 2, Queries: 1000}
	closed, open := Load{Mode: Closed, Clients: 2}, Load{Mode: Open, Clients: 1, Rate: 1e5}
	replies := serve(t, Request{Measure: req},
		Command{Visit: &Visit{Point: 1, Load: closed, Keep: true, EachOnce: true, MinTime: time.Millisecond, Warmup: 100 * time.Microsecond}},
		Command{Visit: &Visit{Point: 0, Load: open, Keep: true, EachOnce: true, MinTime: time.Millisecond, Start: 1}},
		Command{Visit: &Visit{Point: 0, Load: closed.with(1), Count: 7, Start: 1}},
		Command{Done: true},
	)
	if len(replies) != 4 || replies[0].Loaded == nil {
		t.Fatalf("replies %+v", replies)
	}
	loaded := replies[0].Loaded
	if len(loaded.Points) != 3 || loaded.Points[1].SameAs != 1 || loaded.Points[2].SameAs != 1 || loaded.Queries != 2 || loaded.IndexBytes <= 0 {
		t.Errorf("%+v", loaded)
	}
	checkAnswers(t, loaded.Check)
	for i, reply := range replies[1:] {
		v := reply.Visited
		if v == nil || v.Samples < 2 || v.Errors != 0 || v.Wall <= 0 || v.Spent < v.Wall || len(v.Histogram) == 0 {
			t.Fatalf("visit %d: %+v", i, v)
		}
		if (i < 2) != (v.Answers != "") || (i == 1) != (len(v.Service) > 0) {
			t.Errorf("visit %d has answers in %q and %d bytes of service times", i, v.Answers, len(v.Service))
		}
	}
	checkAnswers(t, replies[1].Visited.Answers)
	checkAnswers(t, replies[2].Visited.Answers)
	if v := replies[3].Visited; v.Samples != 7 {
		t.Errorf("%d queries, where 7 were asked for", v.Samples)
	}
}

func (l Load) with(clients int) Load {
	l.Clients = clients
	return l
}

// A query that takes too long has failed, keeps its latency and gives no answer.
func TestTimeout(t *testing.T) {
	req := flatCell(t)
	load := Load{Mode: Closed, Clients: 1, Timeout: 1} // a nanosecond
	replies := serve(t, Request{Measure: req}, Command{Visit: &Visit{Load: load, Keep: true, EachOnce: true}}, Command{Done: true})
	v := replies[1].Visited
	if v == nil || v.Errors != v.Samples || v.TimedOut != v.Samples || v.Samples < 2 || v.Error == "" {
		t.Fatalf("%+v", replies[1])
	}
	answers, err := arrowfile.ReadAnswers(v.Answers)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if !a.TimedOut || len(a.IDs) != 0 || a.Nanoseconds <= 0 {
			t.Errorf("%+v", a)
		}
	}
}

func TestErrorsAreReplies(t *testing.T) {
	visit := func(v Visit) Command { return Command{Visit: &v} }
	for name, c := range map[string]struct {
		req      Request
		commands []Command
	}{
		"nothing":        {},
		"no such engine": {req: Request{Build: &BuildRequest{Engine: "warp"}}},
		"no such file":   {req: Request{Build: &BuildRequest{Engine: "flat", Source: Source{Vectors: "/nowhere.fbin", Metric: vector.L2}}}},
		"no queries":     {req: Request{Measure: &MeasureRequest{}}},
		"no such point":  {Request{Measure: flatCell(t)}, []Command{visit(Visit{Point: 3, Load: Load{Mode: Closed, Clients: 1}, EachOnce: true})}},
		"too many":       {Request{Measure: flatCell(t)}, []Command{visit(Visit{Load: Load{Mode: Closed, Clients: 3}, EachOnce: true})}},
		"no such load":   {Request{Measure: flatCell(t)}, []Command{visit(Visit{Load: Load{Mode: "ajar", Clients: 1}, EachOnce: true})}},
		"no command":     {Request{Measure: flatCell(t)}, []Command{{}}},
	} {
		replies := serve(t, c.req, c.commands...)
		if len(replies) == 0 || replies[len(replies)-1].Error == "" {
			t.Errorf("%s: %+v", name, replies)
		}
	}
}

// A parent of another build is told, and not misunderstood.
func TestOtherProtocol(t *testing.T) {
	var in, out bytes.Buffer
	if err := WriteFrame(&in, Request{Protocol: Protocol + 1, Build: &BuildRequest{}}); err != nil {
		t.Fatal(err)
	}
	Serve(&in, &out, Registry{}, func(int) {})
	var reply Reply
	if err := ReadFrame(&out, &reply); err != nil || !strings.Contains(reply.Error, "protocol") {
		t.Errorf("%+v, %v", reply, err)
	}
}

// An end of the request pipe means that the parent is gone.
func TestOrphanExits(t *testing.T) {
	in, parent := io.Pipe()
	exited := make(chan int, 1)
	release := make(chan struct{})
	slow := indexes.Engine{Name: "slow", Build: slowBuild(release)}
	go func() {
		_ = WriteFrame(parent, Request{Protocol: Protocol, Build: &BuildRequest{Engine: "slow"}})
		_ = parent.Close()
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Serve(in, io.Discard, Registry{Engines: []indexes.Engine{slow}}, func(code int) { exited <- code })
	}()
	if code := <-exited; code == 0 {
		t.Error("an orphan exits as if all were well")
	}
	close(release)
	<-done
}

func TestAsksForMoreUntilDocumentsAreFound(t *testing.T) {
	// Ten chunks of one document come first; the other two documents follow.
	r := &retriever{depth: 2, documents: 3, docs: []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}, queries: []string{"x"}}
	r.parts = []indexes.Index{counting(12)}
	r.addClients(1)
	if err := r.Do(0, 0); err != nil {
		t.Fatal(err)
	}
	if c := r.clients[0]; c.asked != 16 || len(c.hits) != 12 {
		t.Errorf("asked for %d, got %d", c.asked, len(c.hits))
	}
	r.documents = 4 // there are only three: asking ends when nothing is left
	if err := r.Do(0, 0); err != nil {
		t.Fatal(err)
	}
	if c := r.clients[0]; c.asked != 16 {
		t.Errorf("asked for %d rows of 12", c.asked)
	}
}

// A visit that is told to stop ends without having asked all; those after it are as if it had not been.
func TestStop(t *testing.T) {
	closed := Load{Mode: Closed, Clients: 1}
	rare := Load{Mode: Open, Clients: 1, Rate: 1e-3} // two queries take half an hour
	replies := serve(t, Request{Measure: flatCell(t)},
		Command{Visit: &Visit{Load: rare, Keep: true, EachOnce: true}},
		Command{Stop: 1},
		Command{Visit: &Visit{Load: closed, Keep: true, EachOnce: true}},
		Command{Done: true},
	)
	if len(replies) != 3 || replies[1].Visited == nil || !replies[1].Visited.Stopped || replies[1].Visited.Answers != "" {
		t.Fatalf("replies %+v", replies)
	}
	v := replies[2].Visited
	if v == nil || v.Stopped || v.Samples != 2 {
		t.Fatalf("the visit after: %+v", v)
	}
	checkAnswers(t, v.Answers)
}

// A word to stop that comes too late is about no other visit.
func TestLateStop(t *testing.T) {
	var in bytes.Buffer
	for _, c := range []Command{{Stop: 1}, {Visit: &Visit{}}, {Visit: &Visit{}}, {Stop: 1}, {Visit: &Visit{}}, {Stop: 3}, {Stop: 4}} {
		if err := WriteFrame(&in, c); err != nil {
			t.Fatal(err)
		}
	}
	commands := make(chan command, 3)
	if err := readCommands(t.Context(), &in, commands); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	close(commands)
	var stopped []bool
	for c := range commands {
		stopped = append(stopped, c.ctx.Err() != nil)
		c.cancel()
	}
	if !slices.Equal(stopped, []bool{false, false, true}) {
		t.Errorf("stopped %v", stopped)
	}
}
