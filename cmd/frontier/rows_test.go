package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"frontier/results"

	"github.com/rogpeppe/go-internal/testscript"
)

// writeRows is the script command "writerows FILE.csv DIR [OBJECTIVE...]": it makes a results folder of rows that are
// known, without measuring anything. The first line of the file names the columns; an empty field is null.
func writeRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: writerows FILE.csv DIR [OBJECTIVE...]")
	}
	lines, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	var rows []results.Row
	for _, line := range lines[1:] {
		r := results.Row{}
		for i, name := range lines[0] {
			col, ok := results.Lookup(name)
			if !ok {
				ts.Fatalf("%s: unknown column %q", args[0], name)
			}
			if line[i] == "" {
				continue
			}
			switch col.Type {
			case results.Float:
				r[name], err = strconv.ParseFloat(line[i], 64)
			case results.Int:
				r[name], err = strconv.ParseInt(line[i], 10, 64)
			case results.Strings:
				r[name] = []string{line[i]}
			default:
				r[name] = line[i]
			}
			ts.Check(err)
		}
		rows = append(rows, r)
	}
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(results.WriteRows(filepath.Join(dir, "results.parquet"), rows))
	if len(args) > 2 {
		ts.Check(results.WriteManifest(dir, &results.Manifest{RunID: "made-up", Name: filepath.Base(dir), Objectives: args[2:]}))
	}
}
