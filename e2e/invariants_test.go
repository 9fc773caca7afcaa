package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// checkFolder checks what must hold for every results folder of a sweep in which nothing failed: points measured rows,
// with the cut-offs ks.
func checkFolder(t *testing.T, r results, points int, ks []int) {
	t.Helper()
	t.Run("columns", func(t *testing.T) { checkColumns(t, r, ks) })
	t.Run("rows", func(t *testing.T) { checkRows(t, r, points) })
	t.Run("means", func(t *testing.T) { checkMeans(t, r) })
	t.Run("measurements", func(t *testing.T) { checkMeasurements(t, r) })
	t.Run("frontier", func(t *testing.T) { checkFrontier(t, r) })
}

// checkColumns compares the columns of results.parquet with the documented ones, and their types.
func checkColumns(t *testing.T, r results, ks []int) {
	want := map[string]string{}
	for _, c := range documentedColumns(t) {
		if !strings.Contains(c.Name, "_at_K") {
			want[c.Name] = duckType(t, c.Type)
			continue
		}
		for _, k := range ks {
			want[strings.Replace(c.Name, "_at_K", "_at_"+strconv.Itoa(k), 1)] = duckType(t, c.Type)
		}
	}
	for _, c := range r.columns(t, "results") {
		switch typ, ok := want[c.name]; {
		case !ok:
			t.Errorf("column %s is not documented", c.name)
		case typ != c.typ:
			t.Errorf("column %s is %s, documented as %s", c.name, c.typ, typ)
		}
		delete(want, c.name)
	}
	for name := range want {
		t.Errorf("column %s is documented and missing", name)
	}
}

// checkRows counts: a row a point, a row a point and query, and the same rows in the parts.
func checkRows(t *testing.T, r results, points int) {
	for statement, want := range map[string]int{
		"select count(*) from results":                 points,
		"select count(distinct point_id) from results": points,
		"select count(distinct point_id) from queries": points,
	} {
		if got := int(r.number(t, statement)); got != want {
			t.Errorf("%s: %d, want %d", statement, got, want)
		}
	}
	r.none(t, "failed", "select point_id, status, error from results where status <> 'ok' or error is not null")
	r.none(t, "wrong number of query rows", `
		select point_id, r.queries, q.n from results r
		full join (select point_id, count(*) n, count(distinct query_id) d from queries group by all) q using (point_id)
		where r.queries is distinct from q.n or q.n is distinct from q.d or r.queries_expected is distinct from q.n`)
	r.none(t, "not in the parts", "select point_id from results where point_id not in (select point_id from parts)")
	r.none(t, "failed query", "select point_id, query_id, error from queries where error is not null")
	r.none(t, "ids without scores", "select point_id, query_id from queries where len(ids) <> len(scores)")
	r.none(t, "ids twice", "select point_id, query_id from queries where len(ids) <> len(list_distinct(ids))")
	r.none(t, "scores out of order", "select point_id, query_id from queries where scores <> list_reverse_sort(scores)")
}

var cutoff = regexp.MustCompile(`_at_\d+$`)

// checkMeans computes the mean of every metric that the query rows hold, and compares it with results.parquet.
func checkMeans(t *testing.T, r results) {
	var metrics []string
	for _, c := range r.columns(t, "queries") {
		if c.typ == "DOUBLE" && c.name != "latency_seconds" {
			metrics = append(metrics, c.name)
		}
	}
	// So that an empty list, or one of nulls, does not pass.
	if !slices.ContainsFunc(metrics, cutoff.MatchString) {
		t.Fatalf("the query rows hold no metric with a cut-off: %q", metrics)
	}
	for _, m := range metrics {
		if r.number(t, fmt.Sprintf("select count(%q) from results", m)) == 0 {
			t.Errorf("%s is null in all of results.parquet and has values in queries", m)
		}
		r.none(t, m+" is not the mean over queries", fmt.Sprintf(`
			select point_id, r.%[1]q, q.mean from results r
			join (select point_id, avg(%[1]q) mean from queries group by all) q using (point_id)
			where abs(r.%[1]q - q.mean) > 1e-9 or (r.%[1]q is null) <> (q.mean is null)`, m))
		r.none(t, m+" is not in [0, 1]", fmt.Sprintf("select point_id, query_id, %[1]q from queries where %[1]q not between 0 and 1", m))
	}
	for _, c := range r.columns(t, "results") {
		name, ok := strings.CutSuffix(c.name, "_low")
		if !ok || strings.Contains(name, "tie") {
			continue
		}
		// The interval of a mean holds the mean; rounding may put the mean of equal values a last bit outside.
		r.none(t, name+" is outside of its interval", fmt.Sprintf(`
			select point_id, %[1]q, %[2]q, %[3]q from results
			where %[2]q > %[1]q * (1 + 1e-12) or %[1]q > %[3]q * (1 + 1e-12)`, name, name+"_low", name+"_high"))
	}
}

// checkMeasurements checks what cannot be told from the queries alone: that times and sizes are possible.
func checkMeasurements(t *testing.T, r results) {
	r.none(t, "latencies out of order", `
		select point_id, latency_p50_seconds, latency_p90_seconds, latency_p95_seconds, latency_p99_seconds, latency_p999_seconds, latency_max_seconds
		from results where not (0 < latency_p50_seconds and latency_p50_seconds <= latency_p90_seconds
			and latency_p90_seconds <= latency_p95_seconds and latency_p95_seconds <= coalesce(latency_p99_seconds, latency_max_seconds)
			and coalesce(latency_p99_seconds, 0) <= coalesce(latency_p999_seconds, latency_max_seconds)
			and coalesce(latency_p999_seconds, 0) <= latency_max_seconds
			and 0 < latency_mean_seconds and latency_mean_seconds <= latency_max_seconds) is true`)
	r.none(t, "percentile without the samples that it needs", `
		select point_id, samples from results
		where (samples < 368 and latency_p99_seconds is not null) or (samples < 3688 and latency_p999_seconds is not null)
			or (samples >= 368 and latency_p99_seconds is null) or (samples >= 3688 and latency_p999_seconds is null)`)
	r.none(t, "throughput", "select point_id, qps, samples, repetitions from results where not (qps > 0 and samples > 0 and repetitions > 0) is true")
	// One client cannot answer faster than one query after the other.
	r.none(t, "throughput against latency", `
		select point_id, qps, concurrency / latency_mean_seconds from results where qps > 1.01 * concurrency / latency_mean_seconds`)
	r.none(t, "histogram", "select point_id from results where latency_histogram is null or octet_length(latency_histogram) < 40")
	r.none(t, "machine", `
		select point_id from results where machine_digest is null or cpu is null or cores is null or instruction_set is null or go_version is null`)
	r.none(t, "build", "select point_id, build_seconds, disk_bytes from results where not (build_seconds >= 0 and build_threads > 0) is true")
}

// checkFrontier computes the frontier again, for the objectives ann_recall_at_10:max or recall_at_10:max and
// latency_p50_seconds:min, whichever of the two recalls the sweep asked for.
func checkFrontier(t *testing.T, r results) {
	recall := "recall_at_10"
	if r.number(t, "select count(recall_at_10) from results") == 0 {
		recall = "ann_recall_at_10"
	}
	if r.number(t, "select count(*) from results where on_frontier") < 1 {
		t.Error("no point is on the frontier")
	}
	r.none(t, "wrong about the frontier", fmt.Sprintf(`
		select a.point_id, a.on_frontier, a.dominated_by from results a where a.%[1]s is not null and a.on_frontier is distinct from not exists (
			from results b where b.%[1]s >= a.%[1]s and b.latency_p50_seconds <= a.latency_p50_seconds
				and (b.%[1]s > a.%[1]s or b.latency_p50_seconds < a.latency_p50_seconds))`, recall))
	r.none(t, "dominated by a point that is not on the frontier", `
		select point_id, dominated_by from results
		where dominated_by is not null and dominated_by not in (select point_id from results where on_frontier)`)
}
