package cell

// limitData does nothing here: macOS does not enforce RLIMIT_DATA for mapped memory, which heaps are made of.
func limitData(int64) error { return nil }
