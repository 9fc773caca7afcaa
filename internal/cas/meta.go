package cas

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// metaFile marks a folder as an artifact that was completed. It is written last.
const metaFile = "artifact.json"

// format is the version of the artifacts on disk. Format 1 had no checksums.
const format = 2

// maxMeta bounds what is read of an artifact.json; one of 100,000 files has about 10 MB.
const maxMeta = 64 << 20

// errOtherFormat means that an artifact was written by another version of this program. It counts as absent.
var errOtherFormat = errors.New("has another format")

// File is what is known about a file of an artifact.
type File struct {
	Size int64
	// CRC32C has eight hexadecimal digits for each block of 16 MiB: its CRC-32 with Castagnoli's polynomial.
	CRC32C string
}

// Meta is what is known about a whole artifact; it lies in the artifact's folder and is written last.
type Meta struct {
	Format      int
	Key         Key
	Stage       Stage
	Created     time.Time
	WallSeconds float64
	Files       map[string]File // by path within the folder
}

// Bytes is the size of the artifact.
func (m Meta) Bytes() int64 {
	var sum int64
	for _, f := range m.Files {
		sum += f.Size
	}
	return sum
}

// decodeMeta reads the artifact.json of the artifact k and checks it against itself, so that nothing of it can lead out
// of the artifact's folder. The error is errOtherFormat or says what is wrong.
func decodeMeta(raw []byte, k Key) (Meta, error) {
	var head struct{ Format int }
	if err := json.Unmarshal(raw, &head); err != nil {
		return Meta{}, fmt.Errorf("is not what was written: %w", err)
	}
	if head.Format != format {
		return Meta{}, errOtherFormat
	}
	var m Meta
	if err := json.Unmarshal(raw, &m); err != nil {
		return Meta{}, fmt.Errorf("is not what was written: %w", err)
	}
	if m.Key != k || m.Stage.Key() != k {
		return Meta{}, fmt.Errorf("belongs to another artifact (%.40q)", m.Key)
	}
	for name, f := range m.Files {
		if !filepath.IsLocal(name) || filepath.Clean(name) != name || name == "." || name == metaFile {
			return Meta{}, fmt.Errorf("lists %.80q, which is not the name of a file in the artifact", name)
		}
		if f.Size < 0 || int64(len(f.CRC32C)) != crcDigits*blocks(f.Size) {
			return Meta{}, fmt.Errorf("has checksums of %.80q that do not fit its size", name)
		}
	}
	return m, nil
}
