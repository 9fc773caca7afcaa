package results

// Describe names the settings of a point for people: its index, how it is searched, the embedder and the chunks.
func Describe(r Row) string { return describePoint(r) }
