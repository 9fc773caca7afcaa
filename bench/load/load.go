// Package load sends queries to a target and measures how long they take.
package load

import "time"

// Target answers queries. The harness calls Do concurrently from different clients, each client from one goroutine.
type Target interface {
	// Do answers query. It is all that is timed.
	Do(client, query int) error
	// Keep stores the answer that the client's last Do gave and the time it took, outside the timed part. The harness
	// calls it once a query, for the first answer, so that the answers that are scored come from the load that is timed.
	Keep(client, query int, took time.Duration, err error)
}
