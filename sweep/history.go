package sweep

import (
	"context"

	"frontier/internal/cas"
)

// buildHistory is what the builds in the cache took. An artifact that cannot be read teaches nothing.
func buildHistory(ctx context.Context, cache *cas.Cache) []buildSize {
	entries, err := cache.List(ctx)
	if err != nil && len(entries) == 0 {
		return nil // estimates are then guesses; who needs the cache will say what is wrong with it
	}
	var history []buildSize
	for _, e := range entries {
		if e.Meta.Stage.Name != buildStage || e.Condition != cas.Whole {
			continue
		}
		var record buildRecord
		if readJSON(cas.Artifact{Meta: e.Meta, Dir: e.Dir}.Path("build.json"), &record) == nil && record.Size.Peak > 0 {
			history = append(history, record.Size)
		}
	}
	return history
}

// size is what is known of the build before it has begun, and how many bytes one of its values takes in the input.
func (b *built) size() (size buildSize, valueBytes int64) {
	size = buildSize{Engine: b.engine.Name, Params: b.params.Canonical()}
	if e := b.input.embedding; e != nil {
		size.Values = int64(e.stats.N) * int64(e.stats.Dim)
		return size, 4 // float32
	}
	s := b.input.chunking.stats
	size.Values = int64(s.CharactersMean * float64(s.Chunks))
	return size, 1
}
