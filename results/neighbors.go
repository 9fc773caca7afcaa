package results

import (
	"context"
	"fmt"
	"math"
)

// ReadNeighbors reads the ids of the k nearest neighbours of each query from a Parquet file, as `frontier truth` writes
// it: one row a neighbour with the columns query (from 0), rank (from 1) and id, all int64, in any order. Each of the
// ranks 1 to k must be there once for each of the queries from 0 to the largest. ids is row-major, nearest first.
func ReadNeighbors(ctx context.Context, path string) (k int, ids []int64, err error) {
	columns := map[string][]int64{"query": nil, "rank": nil, "id": nil}
	rows := 0
	unset := int64(math.MinInt64)
	_, err = readParquet(ctx, path, tableReader{
		columnType: func(name string) (Type, bool) {
			_, known := columns[name]
			return Int, known
		},
		required: "id",
		grow: func(n int) {
			rows += n
			for name := range columns {
				for len(columns[name]) < rows {
					columns[name] = append(columns[name], unset)
				}
			}
		},
		set: func(row int, name string, v any) { columns[name][row] = v.(int64) },
	})
	if err == nil {
		k, ids, err = arrange(columns["query"], columns["rank"], columns["id"])
	}
	if err != nil {
		return 0, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return k, ids, nil
}

// arrange puts the neighbours in order.
func arrange(query, rank, id []int64) (k int, ids []int64, err error) {
	queries, ranks := int64(0), int64(0)
	for i := range id {
		if query[i] < 0 || rank[i] < 1 || id[i] < 0 {
			return 0, nil, fmt.Errorf("row %d: query %s, rank %s, id %s: none may be null; queries and ids count from 0, ranks from 1", i, orAbsent(query[i]), orAbsent(rank[i]), orAbsent(id[i]))
		}
		queries, ranks = max(queries, query[i]), max(ranks, rank[i])
	}
	// Both are at most so many, so that their product is one of the small numbers below.
	if rows := int64(len(id)); rows == 0 || queries >= rows || ranks > rows || (queries+1) != rows/ranks || rows%ranks != 0 {
		return 0, nil, fmt.Errorf("%d rows are not the ranks 1 to %d of the queries 0 to %d", rows, ranks, queries)
	}
	ids = make([]int64, len(id))
	for i := range ids {
		ids[i] = -1
	}
	for i := range id {
		at := query[i]*ranks + rank[i] - 1
		if ids[at] >= 0 {
			return 0, nil, fmt.Errorf("row %d: rank %d of query %d is there twice", i, rank[i], query[i])
		}
		ids[at] = id[i]
	}
	return int(ranks), ids, nil
}

func orAbsent(v int64) string {
	if v == math.MinInt64 {
		return "null"
	}
	return fmt.Sprint(v)
}
