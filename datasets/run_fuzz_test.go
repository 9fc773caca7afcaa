package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// openTest opens a file until the end of the test.
func openTest(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // it was only read
	return f
}

// seedTREC adds the heads of trec_eval's test files, and the malformed ones, where they are present.
func seedTREC(f *testing.F, add func(content string)) {
	f.Helper()
	root := os.Getenv("FRONTIER_TEST_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	for _, pattern := range []string{"trec_eval/*", "bad/trec/*", "bad/lfs_pointers/*"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			add(string(raw[:min(len(raw), 2048)]))
		}
	}
}

// A run is read the same by one worker, by several and with its queries grouped first, and as a plain reader reads it.
func FuzzRun(f *testing.F) {
	f.Add("1 Q0 a 1 2.5 x\n# c\n1 Q0 b 2 1e-3 x\r\n2 Q0 a 1 -3 x")
	f.Add("1 Q0 a 1 2 x\n2 Q0 a 1 2 x\n1 Q0 b 1 2 x\n")
	seedTREC(f, func(content string) { f.Add(content) })
	f.Fuzz(func(t *testing.T, content string) {
		grouped, err := rankings(strings.NewReader(content), RunOptions{Workers: 2, Scattered: true})
		onlyFaults(t, err)
		one, oneErr := rankings(strings.NewReader(content), RunOptions{Workers: 1})
		onlyFaults(t, oneErr)
		two, twoErr := rankings(strings.NewReader(content), RunOptions{Workers: 2})
		if fmt.Sprint(oneErr) != fmt.Sprint(twoErr) {
			t.Errorf("one worker says %v, two say %v", oneErr, twoErr)
		}
		if err != nil {
			if oneErr == nil {
				t.Errorf("grouped it fails, with %v", err)
			}
			return
		}
		if oneErr == nil && (!reflect.DeepEqual(one, grouped) || !reflect.DeepEqual(two, grouped)) {
			t.Errorf("got %v with one worker, %v with two, %v grouped", one, two, grouped)
		}
		if want := plainRun(t, content); !reflect.DeepEqual(grouped, want) {
			t.Errorf("got %v, want %v", grouped, want)
		}
	})
}

// plainRun reads a good run line by line.
func plainRun(t *testing.T, content string) map[string][]string {
	all := map[string][]string{}
	for i, line := range strings.Split(strings.TrimPrefix(content, utf8BOM), "\n") {
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\v\f\r", r) })
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		score, err := strconv.ParseFloat(fields[4], 64)
		if err != nil || len(fields) != 6 {
			t.Fatalf("%q was accepted", line)
		}
		all[fields[0]] = append(all[fields[0]], fmt.Sprintf("%s %v %d", fields[2], score, i+1))
	}
	return all
}

// Judgements of every format are faults or whole: each query has some, and none is repeated.
func FuzzReadQrels(f *testing.F) {
	for format := range qrelsFormatNames {
		f.Add("query-id\tcorpus-id\tscore\n1\td\t1\n", format)
		f.Add("1 0 d 1\n# c\n2 0 e 0\n1 0 e -1\n", format)
		f.Add("1 d 1\r\n1 e 2\r\n", format)
		seedTREC(f, func(content string) { f.Add(content, format) })
	}
	f.Fuzz(func(t *testing.T, content string, format int) {
		q, err := ReadQrels("qrels", strings.NewReader(content), QrelsFormat(uint(format)%uint(len(qrelsFormatNames))))
		onlyFaults(t, err)
		if err != nil {
			return
		}
		if len(q.Queries()) == 0 {
			t.Error("neither a query nor an error")
		}
		for _, query := range q.Queries() {
			seen := map[string]bool{}
			for _, j := range q.Judgements(query) {
				if query == "" || j.Document == "" || seen[j.Document] {
					t.Errorf("query %q: judgement %+v, seen: %v", query, j, seen)
				}
				seen[j.Document] = true
			}
			if len(seen) == 0 {
				t.Errorf("query %q has no judgements", query)
			}
		}
	})
}
