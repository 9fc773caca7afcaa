// Package e2e holds tests that run the whole program and read what it wrote with another reader, DuckDB. It is a module
// of its own, so that DuckDB does not weigh on the main one, and it imports nothing of it: what it knows of a results
// folder is what the documentation promises to everyone.
//
// The tests run $FRONTIER_BIN, or build bin/frontier if that is not set.
package e2e
