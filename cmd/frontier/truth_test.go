package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"frontier/datasets"

	"github.com/rogpeppe/go-internal/testscript"
)

// writeVectors is the command `vectors FILE ROWS DIM SEED [odd|nan]` of the scripts: a file of whole numbers from 0 to 3 in
// the format that its name says. With odd there are three copies of a third of the rows, the first of which is zero; with
// nan the last value is none.
func writeVectors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: vectors FILE ROWS DIM SEED [odd|nan]")
	}
	var n [3]int
	for i := range n {
		var err error
		n[i], err = strconv.Atoi(args[i+1])
		ts.Check(err)
	}
	rows, dim := n[0], n[1]
	rng := rand.New(rand.NewPCG(uint64(n[2]), 0))
	values := make([]float32, rows*dim)
	for i := range values {
		values[i] = float32(rng.IntN(4))
	}
	switch strings.Join(args[4:], " ") {
	case "odd":
		third := len(values) / 3
		for i := range dim {
			values[i] = 0
		}
		for row := 1; row < rows/3; row++ {
			values[row*dim] = float32(row) // so that only the copies are equal
		}
		copy(values[third:], values[:third])
		copy(values[2*third:], values[:third])
	case "nan":
		values[len(values)-1] = float32(math.NaN())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), vectorBytes(filepath.Ext(args[0]), values, dim), 0o600))
}

func vectorBytes(ext string, values []float32, dim int) []byte {
	var b []byte
	if ext != ".fvecs" {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(values)/dim))
		b = binary.LittleEndian.AppendUint32(b, uint32(dim))
	}
	for i, v := range values {
		if ext == ".fvecs" && i%dim == 0 {
			b = binary.LittleEndian.AppendUint32(b, uint32(dim))
		}
		if ext == ".u8bin" {
			b = append(b, byte(v))
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// peak is the command frontier that says in the end how much memory it had at its largest, its own code included.
func peak() {
	code := run()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		code = exitFailed
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println(strings.TrimSuffix(strings.TrimSpace(kib), " kB"))
		}
	}
	os.Exit(code)
}

// With a limit on memory, a search through a file of four times as much stays below it.
func TestTruthHoldsToItsMemory(t *testing.T) {
	if runtime.GOOS != "linux" || raceDetector {
		t.Skip("needs /proc, and a program without the race detector, which takes a multiple of the memory")
	}
	const limit, dim, k = 96 << 20, 128, 100
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 1))
	block := make([]float32, 1<<20/4)
	for i := range block {
		block[i] = float32(rng.IntN(256))
	}
	queries := filepath.Join(dir, "queries.fbin")
	if err := os.WriteFile(queries, vectorBytes(".fbin", block[:8*dim], dim), 0o600); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(dir, "base.fvecs") // a format that is decoded, which takes most
	writeLarge(t, base, vectorBytes(".fvecs", block, dim), 4*limit)
	cmd := exec.Command("frontier-peak", "truth", "--base", base, "--queries", queries, "-k", fmt.Sprint(k), "--memory", "96MiB",
		"--audit", "-o", filepath.Join(dir, "gt.parquet"))
	var warnings bytes.Buffer
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, warnings.String())
	}
	kib, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a limit of %d MiB, a peak of %d MiB", limit>>20, kib>>10)
	if kib<<10 > limit {
		t.Errorf("with a limit of %d bytes the process had %d at its peak", limit, kib<<10)
	}
}

// Ctrl-C saves what was found, even if that is nothing, and ends with 130. The same command goes on and ends well.
func TestTruthIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	for name, rows := range map[string]int{"base.fbin": 400, "queries.fbin": 3} {
		values := make([]float32, 4*rows)
		for i := range values {
			values[i] = float32(i % 7)
		}
		if err := os.WriteFile(filepath.Join(dir, name), vectorBytes(".fbin", values, 4), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "gt.ibin")
	truth := func(ctx context.Context) error {
		root := newRoot()
		root.SetArgs([]string{"truth", "--base", filepath.Join(dir, "base.fbin"), "--queries", filepath.Join(dir, "queries.fbin"), "-o", out})
		return root.ExecuteContext(ctx)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var code exitError
	if err := truth(ctx); !errors.As(err, &code) || code.code != exitInterrupted || !strings.Contains(err.Error(), "run the same command to go on") {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := os.Stat(filepath.Join(out+".partial", "state")); err != nil {
		t.Error(err)
	}
	if err := truth(t.Context()); err != nil {
		t.Error(err)
	}
	if k, ids, err := datasets.ReadNeighbors(out); err != nil || k != 100 || len(ids) != 300 {
		t.Errorf("%d ids of %d neighbours, %v", len(ids), k, err)
	}
	if _, err := os.Stat(out + ".partial"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished work is still there: %v", err)
	}
}

// Ctrl-C ends the writing of a merged result too, and leaves no part of it.
func TestTruthMergeIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	vectors, shard, out := filepath.Join(dir, "v.fbin"), filepath.Join(dir, "1.shard"), filepath.Join(dir, "out", "gt.npy")
	if err := errors.Join(os.WriteFile(vectors, vectorBytes(".fbin", make([]float32, 40), 4), 0o600), os.Mkdir(filepath.Dir(out), 0o700)); err != nil {
		t.Fatal(err)
	}
	frontier := func(ctx context.Context, args ...string) error {
		root := newRoot()
		root.SetArgs(append([]string{"truth"}, args...))
		return root.ExecuteContext(ctx)
	}
	if err := frontier(t.Context(), "--base", vectors, "--queries", vectors, "-k", "3", "--shard", "1/1", "-o", shard); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var code exitError
	if err := frontier(ctx, "merge", shard, "-o", out); !errors.As(err, &code) || code.code != exitInterrupted {
		t.Errorf("interrupted: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := frontier(t.Context(), "merge", shard, "-o", out); err != nil {
		t.Error(err)
	}
}

// writeLarge writes rows again and again, until the file has size bytes at least.
func writeLarge(t *testing.T, path string, rows []byte, size int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for written := 0; written < size; written += len(rows) {
		if _, err := f.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
