package cas

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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
	Sum         string          // CRC-32C of this text form without it
}

// sum is the checksum of all other fields.
func (m Meta) sum() (string, error) {
	m.Sum = ""
	raw, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	// Text that is not UTF-8 is replaced when it is written. The sum is over what is read back.
	var read Meta
	if err := json.Unmarshal(raw, &read); err != nil {
		return "", err
	}
	if raw, err = json.Marshal(read); err != nil {
		return "", err
	}
	return fmt.Sprintf("%08x", crc32.Checksum(raw, crc32.MakeTable(crc32.Castagnoli))), nil
}

// encode is the content of artifact.json.
func (m Meta) encode() ([]byte, error) {
	var err error
	if m.Sum, err = m.sum(); err != nil {
		return nil, err
	}
	return json.MarshalIndent(m, "", "  ")
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
	if sum, err := m.sum(); err != nil || sum != m.Sum {
		return Meta{}, errors.New("is not what was written: its own checksum differs")
	}
	if m.Key != k {
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
