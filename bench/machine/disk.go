package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Disk is how fast the file system of a folder is, on a small file.
type Disk struct {
	Path       string  `json:"path"`                   // the folder that was tried
	FileSystem string  `json:"file_system"`            // ext4, xfs, tmpfs, nfs, ...; "" if it is not known by name
	Free       int64   `json:"free_bytes"`             // that this user may fill
	Write      float64 `json:"write_bytes_per_second"` // until the bytes are on the disk
	Sync       float64 `json:"sync_seconds"`           // to bring 4 KiB to the disk, the median of a few
	Read       float64 `json:"read_bytes_per_second"`
	// ReadFromMemory says that the system could not be told to drop its copy of the file before reading, or that there is
	// no disk: Read is then the speed of memory.
	ReadFromMemory bool `json:"read_from_memory"`
}

const diskChunk = 1 << 20

// MeasureDisk writes, syncs and reads size bytes, rounded up to whole MiB, in a file in dir that it deletes. If dir is not
// there it takes the nearest folder above it that is. Syncing ends after maxTime, for on some disks each takes long. It is an
// error if the folder cannot be written, if the file would take over a tenth of what is free, or if other bytes come back.
func MeasureDisk(ctx context.Context, dir string, size int64, maxTime time.Duration) (Disk, error) {
	dir, err := nearestFolder(dir)
	if err != nil {
		return Disk{}, err
	}
	d := Disk{Path: dir}
	if d.FileSystem, d.Free, err = fileSystem(dir); err != nil {
		return d, fmt.Errorf("asking how much is free in %s: %w", dir, err)
	}
	chunks := int((size + diskChunk - 1) / diskChunk)
	if int64(chunks)*diskChunk > d.Free/10 {
		return d, fmt.Errorf("only %d bytes are free in %s: too few to measure the disk", d.Free, dir)
	}
	f, err := os.CreateTemp(dir, "frontier-doctor-*")
	if err != nil {
		return d, fmt.Errorf("measuring the disk: %w", err)
	}
	err = d.measure(ctx, f, chunks, maxTime)
	return d, errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (d *Disk) measure(ctx context.Context, f *os.File, chunks int, maxTime time.Duration) error {
	chunk := make([]byte, diskChunk)
	for i := range chunk {
		// Not all the same, which some file systems do not store, and repeating after 4 KiB, as the syncs write.
		chunk[i] = byte(i%4096*7 + i%4096>>8)
	}
	fail := func(what string, err error) error {
		return fmt.Errorf("measuring the disk: %s %s: %w", what, f.Name(), err)
	}
	begin := time.Now()
	for range chunks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := f.Write(chunk); err != nil {
			return fail("writing", err)
		}
	}
	if err := f.Sync(); err != nil {
		return fail("syncing", err)
	}
	bytesWritten := float64(chunks) * diskChunk
	d.Write = bytesWritten / time.Since(begin).Seconds()

	var syncs []time.Duration
	for begin := time.Now(); len(syncs) < 15 && (len(syncs) == 0 || time.Since(begin) < maxTime); {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := time.Now()
		if _, err := f.WriteAt(chunk[:4096], int64(len(syncs)%(chunks*diskChunk/4096))*4096); err != nil {
			return fail("writing", err)
		}
		if err := f.Sync(); err != nil {
			return fail("syncing", err)
		}
		syncs = append(syncs, time.Since(start))
	}
	slices.Sort(syncs)
	d.Sync = syncs[len(syncs)/2].Seconds()

	d.ReadFromMemory = !dropCached(f) || d.FileSystem == "tmpfs"
	got := make([]byte, diskChunk)
	begin = time.Now()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fail("reading", err)
	}
	for range chunks {
		if _, err := io.ReadFull(f, got); err != nil {
			return fail("reading", err)
		}
		if !bytes.Equal(got, chunk) {
			return fail("reading", errors.New("other bytes came back than were written"))
		}
	}
	d.Read = bytesWritten / time.Since(begin).Seconds()
	return nil
}

// nearestFolder is dir, or the nearest folder above it that is there.
func nearestFolder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("measuring the disk of %s: %w", dir, err)
	}
	dir = abs
	for {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("measuring the disk: %w", err)
		}
		dir = parent
	}
}

func fileSystem(dir string) (name string, free int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", 0, err
	}
	return fileSystemName(&st), int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
