package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
)

const (
	flushEvery = time.Second   // recording time that a crash may lose, in formats without a footer
	tryEvery   = time.Second   // interval between attempts to write to a failing disk
	maxPending = 64 << 10      // bytes in memory before a write to the disk
	partial    = system.Suffix // suffix of an incomplete file that is not readable yet
	tornSuffix = ".torn"       // suffix of an incomplete file left by a killed run
)

// recording writes the files of one sink, one per table, and starts their successors. While the disk fails, it refuses messages with latent.Undelivered.
type recording struct {
	rotation rotation
	finish   func(table int) error // writes the footer of a file; nil for formats without one, which are readable while they are written
	extend   bool                  // append to an existing file
	extends  bool                  // the sink supports the option append

	outputs []*output // one per table; nil between two files
	ending  bool      // the next file is due
	began   time.Time
	flushed time.Time
	tried   time.Time
	fault   error
}

// start creates the first files.
func (r *recording) start() error {
	err := r.adopt()
	if err == nil {
		err = r.open(time.Now())
	}
	switch {
	case errors.Is(err, fs.ErrExist) && r.extends:
		return fmt.Errorf("%s: exists already: give another path, or append: true to continue it", r.rotation.options.Path)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: give another path, or rotate_every to number the files", err)
	case err != nil:
		return fmt.Errorf("%w: check the folder and its permissions", err)
	}
	return nil
}

// ready returns nil if a message may be recorded, or Undelivered while the disk fails.
func (r *recording) ready() error {
	if r.fault == nil || time.Since(r.tried) < tryEvery {
		return r.fault
	}
	return r.settle()
}

// settle writes due bytes to the disk, and starts the next files if they are due. Messages recorded before a failure stay in memory. So a failure concerns only
// the next message, which ready refuses.
func (r *recording) settle() error {
	now := time.Now()
	err := r.turn(now)
	if err == nil {
		err = r.flush(now)
	}
	if r.fault = nil; err != nil {
		r.tried, r.fault = now, latent.Undelivered{Cause: fmt.Errorf("%w: messages are lost until the file can be written: free space, or check the disk", err)}
	}
	return r.fault
}

// renew starts the next files at once.
func (r *recording) renew() error {
	r.ending = true
	return r.settle()
}

// turn starts the next files if they are due.
func (r *recording) turn(now time.Time) error {
	if r.blank() && !r.ending {
		r.began = now
		return nil
	}
	if r.ending = r.ending || r.full(now); !r.ending {
		return nil
	}
	if err := r.end(); err != nil {
		return err
	}
	if err := r.open(now); err != nil {
		return err
	}
	r.ending = false
	r.rotation.prune()
	return nil
}

// flush writes to the disk once a second, when memory holds too much, and after a failed write.
func (r *recording) flush(now time.Time) error {
	due := r.fault != nil || now.Sub(r.flushed) >= flushEvery
	for _, o := range r.outputs {
		if !due && len(o.pending) < maxPending {
			continue
		}
		if err := o.flush(); err != nil {
			return err
		}
	}
	if due {
		r.flushed = now
	}
	return nil
}

// blank reports whether the files are empty. Then no new files start, so no file numbers are used up without frames.
func (r *recording) blank() bool {
	return !slices.ContainsFunc(r.outputs, func(o *output) bool { return o == nil || o.records > 0 })
}

// full reports whether the files have reached their largest size or age.
func (r *recording) full(now time.Time) bool {
	size := int64(0)
	for _, o := range r.outputs {
		size += o.size()
	}
	return r.rotation.options.RotateMB > 0 && float64(size) >= r.rotation.options.RotateMB*1e6 || r.rotation.options.RotateEvery > 0 && now.Sub(r.began) >= r.rotation.options.RotateEvery
}

// open creates all files, or none.
func (r *recording) open(now time.Time) error {
	if r.rotation.options.rotates() || r.rotation.number > 0 || r.ending {
		if err := r.rotation.next(); err != nil {
			return err
		}
	}
	for _, table := range r.rotation.tables {
		o, err := r.create(r.rotation.name(table))
		if err != nil {
			for _, made := range r.outputs {
				err = errors.Join(err, made.file.Close(), os.Remove(made.path))
			}
			r.outputs = nil
			return err
		}
		r.outputs = append(r.outputs, o)
	}
	r.began, r.flushed = now, now
	return nil
}

// create creates one new file.
func (r *recording) create(name string) (*output, error) {
	o := &output{name: name, path: name, ours: !r.extend}
	if r.finish != nil {
		o.path += partial
		if _, err := os.Lstat(name); err == nil {
			return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
	}
	if !r.extend {
		f, err := system.Create(o.path, 0o644) // the lock shows a run that starts meanwhile that the file is in use
		if err != nil {
			return nil, err
		}
		o.file = f
		return o, nil
	}
	f, err := os.OpenFile(o.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	o.file = f
	if err := o.endTorn(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return o, nil
}

// endTorn ends a line that a killed run left unfinished, so the next record starts on a new line.
func (o *output) endTorn(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		o.pending = append(o.pending, '\n')
	}
	return nil
}

// end completes the files. After an error the caller calls it again, and end continues at the file that failed.
func (r *recording) end() error {
	for i, o := range r.outputs {
		if o == nil {
			continue
		}
		if err := r.complete(i, o); err != nil {
			return err
		}
		if err := o.file.Close(); err != nil {
			r.rotation.log.Warn("a recording was not closed cleanly", "err", err)
		}
		r.outputs[i] = nil
	}
	r.outputs = nil
	return nil
}

// complete completes one file. It ignores a file that another program has removed.
func (r *recording) complete(table int, o *output) error {
	if r.finish != nil && !o.ended && o.records > 0 {
		if err := r.finish(table); err != nil {
			return err
		}
	}
	o.ended = true
	err := o.complete()
	if errors.Is(err, fs.ErrNotExist) {
		r.rotation.log.Warn("a recording was removed while it was written", "err", err)
		return nil
	}
	return err
}

// close completes the files as far as possible.
func (r *recording) close() error {
	var errs []error
	for i, o := range r.outputs {
		if o == nil {
			continue
		}
		if err := r.complete(i, o); err != nil {
			errs = append(errs, err, o.abandon())
		}
		errs = append(errs, o.file.Close())
	}
	r.outputs = nil
	return errors.Join(errs...)
}
