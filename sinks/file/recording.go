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
	flushEvery = time.Second   // how much of a recording a crash may cost, where it needs no footer
	tryEvery   = time.Second   // a disk that took nothing is asked again
	maxPending = 64 << 10      // bytes in memory after which they go to the disk
	partial    = system.Suffix // after the name of a file that cannot be read before it is whole
	tornSuffix = ".torn"       // the same of one that never became whole
)

// recording is the files of one sink, one for each table, and those that follow them. While the disk fails, messages are refused with
// latent.Undelivered; they are taken again once it can be written.
type recording struct {
	rotation rotation
	finish   func(table int) error // puts a footer into its output; nil where files need none, and can be read while they are written
	extend   bool                  // go on in a file that is there
	extends  bool                  // that could be asked for

	outputs []*output // one a table; nil between two
	ending  bool      // the next file is to begin
	began   time.Time
	flushed time.Time
	tried   time.Time
	fault   error
}

// start makes the first files, or says why not.
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

// ready says whether a message may be recorded: nil, or Undelivered while the disk fails.
func (r *recording) ready() error {
	if r.fault == nil || time.Since(r.tried) < tryEvery {
		return r.fault
	}
	return r.settle()
}

// settle brings to the disk what is due, and begins the next files when it is time. What was recorded before it failed is kept in memory,
// so its error matters to the next message, which ready refuses.
func (r *recording) settle() error {
	now := time.Now()
	err := r.turn(now)
	if err == nil {
		err = r.flush(now)
	}
	if r.fault = nil; err != nil {
		r.tried, r.fault = now, latent.Undelivered{Cause: fmt.Errorf("%w: messages are lost until it can be written: free space, or check the disk", err)}
	}
	return r.fault
}

// renew begins the next files at once.
func (r *recording) renew() error {
	r.ending = true
	return r.settle()
}

// turn begins the next files when it is time.
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

// flush brings what is in memory to the disk once a second, when it is too much, and when the disk did not take it before.
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

// blank says that the files hold nothing: while no frames come, no numbers go by.
func (r *recording) blank() bool {
	return !slices.ContainsFunc(r.outputs, func(o *output) bool { return o == nil || o.records > 0 })
}

// full says that the files have what they are to hold.
func (r *recording) full(now time.Time) bool {
	size := int64(0)
	for _, o := range r.outputs {
		size += o.size()
	}
	return r.rotation.options.RotateMB > 0 && float64(size) >= r.rotation.options.RotateMB*1e6 || r.rotation.options.RotateEvery > 0 && now.Sub(r.began) >= r.rotation.options.RotateEvery
}

// open makes the files, all or none.
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

// create makes one file, which is not there yet.
func (r *recording) create(name string) (*output, error) {
	o := &output{name: name, path: name, ours: !r.extend}
	if r.finish != nil {
		o.path += partial
		if _, err := os.Lstat(name); err == nil {
			return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
	}
	if !r.extend {
		f, err := system.Create(o.path, 0o644) // held: a run that starts meanwhile sees that it is written
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

// endTorn ends a line that an earlier run was cut off in, so that ours starts a new one.
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

// end completes the files. After an error it is called again, and goes on where it was.
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

// complete makes one file whole. One that somebody took away meanwhile is not waited for.
func (r *recording) complete(table int, o *output) error {
	if r.finish != nil && !o.ended && o.records > 0 {
		if err := r.finish(table); err != nil {
			return err
		}
	}
	o.ended = true
	err := o.complete()
	if errors.Is(err, fs.ErrNotExist) {
		r.rotation.log.Warn("a recording was taken away while it was written", "err", err)
		return nil
	}
	return err
}

// close completes what can be completed.
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
