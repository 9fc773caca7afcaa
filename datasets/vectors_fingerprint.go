package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// VectorFingerprint tells whether a vector file is the one of before, without reading all of it.
type VectorFingerprint struct {
	Path     string `json:"path"` // absolute
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Rows     int    `json:"rows"`
	Dim      int    `json:"dim"`
	Type     string `json:"type"` // of the values in the file: float32, uint8, ...
	// Digest is the SHA-256 over the size and samplePieces evenly spaced pieces of samplePiece bytes, the first and the
	// last of the file among them; of a file no larger than these, over all of it. It does not depend on where or when
	// the file was written.
	Digest string `json:"digest"`
}

const (
	samplePieces = 256
	samplePiece  = 4 << 10
)

// Fingerprint reads a sample of the file.
func (s *VectorStream) Fingerprint() (VectorFingerprint, error) {
	abs, err := filepath.Abs(s.path)
	if err != nil {
		return VectorFingerprint{}, err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\n", s.size)
	piece := make([]byte, samplePiece)
	for i := range int64(samplePieces) {
		at := i * samplePiece
		if s.size > samplePieces*samplePiece {
			at = (s.size - samplePiece) / (samplePieces - 1) * i
			if i == samplePieces-1 {
				at = s.size - samplePiece
			}
		}
		n, err := s.f.ReadAt(piece, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return VectorFingerprint{}, fmt.Errorf("taking a fingerprint: %w", err)
		}
		sum.Write(piece[:n])
	}
	return VectorFingerprint{
		Path: abs, Size: s.size, Modified: s.changed.UnixNano(), Rows: s.layout.rows, Dim: s.layout.dim, Type: s.layout.elem.String(),
		Digest: hex.EncodeToString(sum.Sum(nil)),
	}, nil
}
