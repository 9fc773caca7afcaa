package cas

import (
	"context"
	"errors"
)

// Damage is an artifact that is not what had been written.
type Damage struct {
	Entry
	Faults  []Fault
	Deleted bool // because it was to be repaired
}

// VerifyReport is the result of a verification.
type VerifyReport struct {
	Checked     int   // artifacts, the damaged ones among them
	Bytes       int64 // of them
	OtherFormat int   // artifacts of other versions of this program, which were not checked
	Damaged     []Damage
}

// Verify compares all artifacts with their checksums. With repair it deletes those that are damaged, so that they are
// made again when they are needed; one that a process uses at the time stays. progress is told of each artifact before
// it is read; it may be nil. The report is valid also beside an error, which is about single artifacts.
func (c *Cache) Verify(ctx context.Context, repair bool, progress func(done, total int)) (VerifyReport, error) {
	var r VerifyReport
	keys, err := c.keys()
	if err != nil {
		return r, err
	}
	var failed []error
	for i, k := range keys {
		if ctx.Err() != nil {
			break
		}
		if progress != nil {
			progress(i, len(keys))
		}
		if err := c.verify(ctx, k, repair, &r); err != nil && ctx.Err() == nil {
			failed = append(failed, c.storageError("check the artifact "+string(k), err))
		}
	}
	return r, errors.Join(append(failed, ctx.Err())...)
}

func (c *Cache) verify(ctx context.Context, k Key, repair bool, r *VerifyReport) error {
	e, ok, err := c.entry(ctx, k)
	if err != nil || !ok {
		return err
	}
	if e.Condition == OtherFormat {
		r.OtherFormat++
		return nil
	}
	f, err := c.inspect(ctx, k, allBytes)
	f.unpin()
	if err != nil || f.state == absent || f.state == leaving {
		return err
	}
	r.Checked++
	r.Bytes += e.Bytes
	if f.state != damaged {
		return nil
	}
	d := Damage{Entry: e, Faults: f.faults}
	d.Condition = Broken
	if repair {
		d.Deleted, err = c.deleteArtifact(ctx, d.Entry, false)
	}
	r.Damaged = append(r.Damaged, d)
	return err
}
