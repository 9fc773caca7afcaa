// Package cas is the content-addressed cache of a sweep's preparation: each artifact is a folder whose name is a hash
// over all that it was made from. A folder under its final name is whole; there is no other state to recover from.
//
// The folder of a cache has
//
//	objects/KE/KEY/        the artifacts; artifact.json has the checksums of the other files
//	locks/KEY              locked exclusively by whoever makes the artifact
//	tmp/KEY-NONCE/         an artifact that is being made, and tmp/KEY-NONCE.owner, locked by its maker
//	damaged/KEY-TIME/      artifacts that were not what had been written
//
// Whoever uses an artifact has a shared lock on its artifact.json until the cache is closed or the process ends, and
// whoever deletes one takes that lock exclusively. A hit therefore writes nothing: it works on a read-only or a full disk.
package cas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Artifact is a whole artifact on disk.
type Artifact struct {
	Meta
	Dir string
	Hit bool // it was there already
}

// Path is the path of a file of the artifact.
func (a Artifact) Path(name string) string { return filepath.Join(a.Dir, name) }

// Cache is a folder of artifacts. Several processes, and several goroutines, may use it at once.
type Cache struct {
	root        string
	fs          fsys
	report      func(Notice)
	noticeAfter time.Duration

	mu    sync.Mutex
	known map[Key]*use
}

// use is what this process knows about an artifact that it uses.
type use struct {
	mu sync.Mutex
	// pin is the opened artifact.json, with a shared lock where the file system has locks.
	pin *os.File
	// checked says that the content of the artifact that pin belongs to was compared with its checksums, or written, by
	// this process.
	checked bool
}

// Option sets up a cache.
type Option func(*Cache)

// Report makes the cache tell f what its user ought to know: of damage, and of long waits. f is called from several
// goroutines.
func Report(f func(Notice)) Option { return func(c *Cache) { c.report = f } }

// noticeAfter is how long a wait is not worth a word.
const noticeAfter = 2 * time.Second

// Open opens the cache in the folder root and makes it if it is not there. It deletes what processes that died left
// unfinished. A folder that is there and cannot be written is opened for reading. The error is a *StorageError.
func Open(root string, options ...Option) (*Cache, error) {
	return open(root, osFS{}, options...)
}

func open(root string, files fsys, options ...Option) (*Cache, error) {
	abs, err := filepath.Abs(root) // children run elsewhere
	if err != nil {
		return nil, err
	}
	c := newCache(abs, files, options)
	if err := c.makeFolders("make folders"); err != nil {
		if info, statErr := os.Stat(abs); statErr != nil || !info.IsDir() || !isForbidden(err) && !isFull(err) {
			return nil, err
		}
	}
	c.cleanTemp()
	return c, nil
}

// OpenExisting opens a cache without changing anything in its folder, which counts as an empty cache if it is not there.
// The error is a *StorageError.
func OpenExisting(root string) (*Cache, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	c := newCache(abs, osFS{}, nil)
	if _, err := os.ReadDir(abs); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, c.storageError("list the artifacts", err)
	}
	return c, nil
}

func newCache(abs string, files fsys, options []Option) *Cache {
	c := &Cache{root: abs, fs: files, report: func(Notice) {}, noticeAfter: noticeAfter, known: map[Key]*use{}}
	for _, option := range options {
		option(c)
	}
	return c
}

func (c *Cache) makeFolders(doing string) error {
	for _, dir := range []string{"objects", "tmp", "locks"} {
		if err := c.fs.mkdirAll(filepath.Join(c.root, dir)); err != nil {
			return c.storageError(doing, err)
		}
	}
	return nil
}

// Close lets others delete the artifacts that were used. The cache must not be used after it.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.known {
		u.mu.Lock()
		u.forget()
		u.mu.Unlock()
	}
	return nil
}

// Root is the cache's folder.
func (c *Cache) Root() string { return c.root }

func (c *Cache) dir(k Key) string { return filepath.Join(c.root, "objects", string(k[:2]), string(k)) }

func (c *Cache) lockPath(k Key) string { return filepath.Join(c.root, "locks", string(k)) }

func (c *Cache) use(k Key) *use {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, ok := c.known[k]
	if !ok {
		u = &use{}
		c.known[k] = u
	}
	return u
}

func (u *use) forget() {
	if u.pin != nil {
		_ = u.pin.Close() // it was only read
	}
	u.pin, u.checked = nil, false
}

// Lookup finds a whole artifact without making it. Sizes are compared each time, checksums once in the life of the
// Cache; an artifact that does not fit them is not whole. It cannot be deleted by others until the cache is closed.
func (c *Cache) Lookup(k Key) (Artifact, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), leavingPatience)
	defer cancel()
	var found Artifact
	err := poll(ctx, func(time.Duration) (bool, error) {
		a, f, err := c.find(context.Background(), k)
		f.unpin()
		found = a
		return f.state != leaving, err
	})
	return found, err == nil && found.Hit
}

// find looks for the artifact k, and takes note of it if it is whole. If it is not, the caller must unpin the finding.
func (c *Cache) find(ctx context.Context, k Key) (Artifact, finding, error) {
	if !k.valid() {
		return Artifact{}, finding{}, nil
	}
	u := c.use(k)
	u.mu.Lock()
	defer u.mu.Unlock()
	d := allBytes
	if u.checked && isAt(u.pin, filepath.Join(c.dir(k), metaFile)) {
		d = sizesOnly
	}
	f, err := c.inspect(ctx, k, d)
	if err != nil || f.state != whole {
		u.forget()
		return Artifact{}, f, err
	}
	if d == sizesOnly {
		f.unpin()
	} else {
		u.forget()
		u.pin, u.checked = f.pin, true
		c.touch(k)
	}
	return Artifact{Meta: f.meta, Dir: c.dir(k), Hit: true}, finding{state: whole}, nil
}

// leavingPatience is how long Lookup waits for someone who locked an artifact: to delete it, or only to see whether it
// is in use.
const leavingPatience = 200 * time.Millisecond

// touch notes that the artifact was used now, for whoever cleans up. A read-only cache has no such notes.
func (c *Cache) touch(k Key) {
	now := time.Now()
	_ = os.Chtimes(filepath.Join(c.dir(k), metaFile), now, now)
}

// Do returns the artifact of s, making it first if it is not there: build fills a temporary folder, which is synced
// and renamed when build has succeeded. Of several callers, in this and in other processes, one builds and the others
// wait for it. An artifact that is damaged is moved aside, reported, and made again. An error is build's, ctx's, or a
// *StorageError that says what to do; what is in the cache is whole in any case.
func (c *Cache) Do(ctx context.Context, s Stage, build func(ctx context.Context, dir string) error) (Artifact, error) {
	k := s.Key()
	a, f, err := c.find(ctx, k)
	f.unpin()
	if err == nil && f.state == whole {
		return a, nil
	}
	if err != nil {
		return Artifact{}, c.failure(ctx, s, "read the artifact of "+s.Describe(), err)
	}
	doing := "make the artifact of " + s.Describe()
	if f.state == damaged {
		doing = fmt.Sprintf("replace the damaged artifact of %s (%s)", s.Describe(), tell(f.faults))
	}
	if err := c.makeFolders(doing); err != nil {
		return Artifact{}, err
	}
	lock, err := c.lock(ctx, s, k)
	if err != nil {
		return Artifact{}, c.failure(ctx, s, doing, err)
	}
	defer lock.unlock()
	a, f, err = c.findLocked(ctx, k)
	defer f.unpin()
	switch {
	case err != nil:
		return Artifact{}, c.failure(ctx, s, "read the artifact of "+s.Describe(), err)
	case f.state == whole:
		return a, nil
	}
	if err := c.makeWay(s, k, f); err != nil {
		return Artifact{}, c.storageError("move aside what was stored for "+s.Describe(), err)
	}
	return c.make(ctx, s, k, build)
}

// findLocked is find for whoever may build the artifact: it waits until nobody deletes it any more.
func (c *Cache) findLocked(ctx context.Context, k Key) (a Artifact, f finding, err error) {
	pollErr := poll(ctx, func(time.Duration) (bool, error) {
		a, f, err = c.find(ctx, k)
		return f.state != leaving, nil
	})
	return a, f, errors.Join(err, pollErr)
}

// make builds the artifact and stores it.
func (c *Cache) make(ctx context.Context, s Stage, k Key, build func(ctx context.Context, dir string) error) (Artifact, error) {
	t, err := c.newTemp(k)
	if err != nil {
		return Artifact{}, c.storageError("make a folder for the artifact of "+s.Describe(), err)
	}
	defer t.close()
	start := time.Now()
	if err := build(ctx, t.dir); err != nil {
		return Artifact{}, c.buildError(s, err)
	}
	m := Meta{Format: format, Key: k, Stage: s, Created: start.UTC(), WallSeconds: time.Since(start).Seconds()}
	// What was built is kept, also for a user who wants to go meanwhile.
	pin, err := c.commit(context.WithoutCancel(ctx), t, &m)
	if err != nil {
		return Artifact{}, c.failure(ctx, s, "store the artifact of "+s.Describe(), err)
	}
	u := c.use(k)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget()
	u.pin, u.checked = pin, true
	return Artifact{Meta: m, Dir: c.dir(k)}, nil
}

// failure is an error of the cache's own, unless it only says that ctx ended.
func (c *Cache) failure(ctx context.Context, s Stage, doing string, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return c.storageError(doing, err)
}
