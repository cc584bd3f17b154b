package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"driftscope/infer/field"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// film reads the frames of the recording, one at a time.
type film struct {
	ctx       context.Context // context of the reading
	recording *recording.Recording
	next      func() (*frame.Frame, bool)
	stop      func()
	err       error        // error of an ended reading
	at        *frame.Frame // valid until next; nil after the last
	first     uint64       // the number of the first frame
	seq       uint64       // number of the last frame read
	told      bool

	picture *field.Picture
	viewer  *field.Viewer
	view    latent.View
}

// openFilm reads the first frame, so that an unreadable film fails before anything is shown.
func openFilm(ctx context.Context, name string) (*film, error) {
	r, err := recording.Open(name, 0, 0, "", recording.Whole)
	if err != nil {
		return nil, err
	}
	live, err := r.Live()
	if err == nil && live {
		err = console.Usage(fmt.Errorf("--film %s: a live source cannot be replayed: give the recording", name))
	}
	if err != nil {
		return nil, err
	}
	f := &film{ctx: ctx, recording: r, picture: field.NewShown(), viewer: field.NewViewer()}
	f.rewind()
	if !f.read() {
		defer f.close()
		if f.err == nil {
			f.err = fmt.Errorf("--film %s: found no frame: give the recording that was tracked", name)
		}
		return nil, f.err
	}
	f.first = f.seq
	return f, nil
}

// errEnough ends a reading.
var errEnough = errors.New("enough frames were read")

// rewind restarts the reading of the film.
func (f *film) rewind() {
	if f.stop != nil {
		f.stop()
	}
	f.at, f.seq, f.err = nil, 0, nil
	f.next, f.stop = iter.Pull(func(yield func(*frame.Frame) bool) {
		_, f.err = f.recording.Each(f.ctx, nil, func(at *frame.Frame) error {
			if !yield(at) {
				return errEnough
			}
			return nil
		})
	})
}

// read reads the next frame. It returns false after the last one, or after an error, which f.err contains.
func (f *film) read() (ok bool) {
	if f.at, ok = f.next(); ok {
		f.seq = f.at.Seq
	}
	return ok
}

// frame returns frame seq, valid until the next call, or nil if the film lacks it.
func (f *film) frame(seq uint64) (*frame.Frame, error) {
	if seq < f.first {
		return nil, nil
	}
	if seq < f.seq {
		f.rewind()
	}
	for f.at == nil || f.at.Seq < seq {
		if !f.read() {
			f.end()
			return nil, f.err
		}
	}
	if f.at.Seq > seq {
		return nil, nil
	}
	return f.at, nil
}

// end reports that the results continue beyond the film's last frame.
func (f *film) end() {
	if f.err == nil && !f.told {
		f.told = true
		console.Warn("%s ends with frame %d, but the results continue: the rest is shown without pictures", f.recording.Arg, f.seq)
	}
}

// show returns the frame at as a picture, valid until the next call, or nil if it cannot be shown.
func (f *film) show(at *frame.Frame) (*latent.View, error) {
	var skip *pipeline.ErrSkip
	err := f.picture.Apply(f.ctx, at)
	if err == nil {
		err = f.viewer.View(&f.view, at, nil)
	}
	switch {
	case errors.As(err, &skip):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.recording.Arg, err)
	}
	return &f.view, nil
}

func (f *film) close() { f.stop() }
