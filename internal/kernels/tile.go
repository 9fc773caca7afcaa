package kernels

// TileQueries is how many queries the tile kernels compare with a row at once. Four chains of additions hide the
// latency of each other, and each value of a row is loaded once for all of them.
const TileQueries = 4

// DotTile writes the inner products of TileQueries queries with every row of rows: dst[TileQueries*r+j] is that of row
// r and query j. queries holds TileQueries x dim and rows n x dim values, row-major; dst holds n*TileQueries. Each
// product is added to one sum in order, so the error is at most dim+1 float32 roundings of the sum of the magnitudes.
func DotTile(dst, queries, rows []float32, dim int) {
	q0, q1, q2, q3 := queries[:dim], queries[dim:2*dim], queries[2*dim:3*dim], queries[3*dim:4*dim]
	for r := 0; r+dim <= len(rows); r += dim {
		row := rows[r : r+dim : r+dim]
		q0, q1, q2, q3 := q0[:len(row)], q1[:len(row)], q2[:len(row)], q3[:len(row)]
		var s0, s1, s2, s3 float32
		for i, v := range row {
			s0 += q0[i] * v
			s1 += q1[i] * v
			s2 += q2[i] * v
			s3 += q3[i] * v
		}
		out := dst[:TileQueries]
		dst = dst[TileQueries:]
		out[0], out[1], out[2], out[3] = s0, s1, s2, s3
	}
}

// SquaredL2Tile writes squared Euclidean distances in the layout of DotTile. It subtracts before it squares, so vectors
// far from the origin do not cancel; the error is at most dim+3 float32 roundings of the distance itself.
func SquaredL2Tile(dst, queries, rows []float32, dim int) {
	q0, q1, q2, q3 := queries[:dim], queries[dim:2*dim], queries[2*dim:3*dim], queries[3*dim:4*dim]
	for r := 0; r+dim <= len(rows); r += dim {
		row := rows[r : r+dim : r+dim]
		q0, q1, q2, q3 := q0[:len(row)], q1[:len(row)], q2[:len(row)], q3[:len(row)]
		var s0, s1, s2, s3 float32
		for i, v := range row {
			d0, d1, d2, d3 := q0[i]-v, q1[i]-v, q2[i]-v, q3[i]-v
			s0 += d0 * d0
			s1 += d1 * d1
			s2 += d2 * d2
			s3 += d3 * d3
		}
		out := dst[:TileQueries]
		dst = dst[TileQueries:]
		out[0], out[1], out[2], out[3] = s0, s1, s2, s3
	}
}
