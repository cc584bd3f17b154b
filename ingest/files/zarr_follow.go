package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"driftscope/ingest/follow"
	"driftscope/ingest/timing"
	"driftscope/ingest/zarr"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

const (
	// settled is how long a file that could still lack its end has to rest: two looks, and frames come within 100 ms.
	settled = 50 * time.Millisecond
	// reach is how many frames behind one that is missing are asked for now and then: writers on many cores are some ahead.
	reach = 64
)

// growingZarr gives the frames of a store that is still being written, each as soon as its chunks are whole. What the metadata say of how
// many there are is not asked: some writers say it first, some last.
type growingZarr struct {
	zarrStore
	clock timing.Clock
	tail  follow.Tail

	state   zarr.State // of the frame that is waited for
	rests   time.Time  // since when it is in this state
	tried   time.Time  // when it was read last
	failed  error      // why it could not be
	looked  time.Time  // when frames far behind it were asked for
	beyond  int        // a later frame that is there; 0 where none is known
	later   time.Time  // since when
	ended   bool       // nothing came for too long
	last    int        // the last frame of which something was written, once it has ended
	checked time.Time  // when the metadata were read last
	torn    time.Time  // since when they are half there, before the first frame
}

// Info does not know the number of frames. The frames' times are known once the first was read.
func (s *growingZarr) Info() pipeline.Info { return pipeline.Info{Timed: s.clock.Timed()} }

// Open opens the store, which need not hold anything yet.
func (s *growingZarr) Open(context.Context) error {
	s.tail.Alive()
	if err := s.open(&s.clock); err != nil && !s.awaited(err) {
		return err
	}
	return nil
}

// awaited says that metadata may be written yet. Damage that stays is the person's to know.
func (s *growingZarr) awaited(err error) bool {
	if errors.Is(err, zarr.ErrTorn) {
		if s.torn.IsZero() {
			s.torn = time.Now()
		}
		return time.Since(s.torn) < giveUp
	}
	s.torn = time.Time{}
	_, gone := os.Stat(s.path)
	return errors.Is(err, fs.ErrNotExist) && gone == nil
}

// Read returns the next frame once it is whole. One that stays damaged while later ones come is skipped as unreadable_frame, one that was passed over as
// missing_frame; the last one that its writer left half done as torn_frame when the recording has ended.
func (s *growingZarr) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := s.next()
		if f != nil || err != nil {
			s.tail.Alive()
			return f, err
		}
		if s.ended {
			return nil, s.end()
		}
		if err := s.tail.Wait(ctx); err == io.EOF {
			if err := s.finish(); err != nil {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
	}
}

// end is what Read returns behind the last frame.
func (s *growingZarr) end() error {
	if s.image == nil {
		return fmt.Errorf("%s: no whole metadata came: give the folder of an OME-Zarr picture", s.path)
	}
	return io.EOF
}

// finish takes the store as it is.
func (s *growingZarr) finish() (err error) {
	s.ended = true
	if s.image != nil {
		s.image.Forget()
		if s.last, err = s.image.Last(s.place(0), true); err != nil {
			err = fmt.Errorf("%s: %w", s.path, err)
		}
	}
	return err
}

// next returns the next frame, or what hinders; neither where it has to be waited for.
func (s *growingZarr) next() (*frame.Frame, error) {
	if s.image == nil {
		if err := s.open(&s.clock); err != nil {
			if s.awaited(err) {
				return nil, nil
			}
			return nil, err
		}
		s.tail.Alive()
	}
	n := int(s.clock.Next())
	if s.ended && n > s.last || n > 0 && !s.image.Timed() {
		return nil, nil
	}
	if n >= zarr.MaxFrames {
		return nil, fmt.Errorf("%s: more than %d frames: split the recording", s.path, zarr.MaxFrames)
	}
	place := s.place(n)
	if err := s.look(place); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	short := s.state.Present < s.image.Tiles()
	if !s.ended && (short && !s.overdue(place) || s.failed != nil && time.Since(s.tried) < s.pause()) {
		return nil, nil
	}
	return s.try(place)
}

// look notes what of the frame is there.
func (s *growingZarr) look(place zarr.Place) error {
	state, err := s.image.State(place)
	if err != nil {
		return err
	}
	if state != s.state || s.rests.IsZero() {
		if state.Present > 0 {
			s.tail.Alive()
		}
		s.state, s.rests, s.failed = state, time.Now(), nil
	}
	return s.anew()
}

// anew notices a store that was begun anew, which is the person's to know.
func (s *growingZarr) anew() error {
	if time.Since(s.checked) < tryAgain {
		return nil
	}
	s.checked = time.Now()
	return s.image.Again()
}

// try reads a frame of which something is there.
func (s *growingZarr) try(place zarr.Place) (*frame.Frame, error) {
	s.tried = time.Now()
	missing, doubtful, err := s.image.Read(&s.page, place)
	s.failed = err
	switch {
	case err == nil && missing == 0 && (s.ended || s.whole(doubtful) || s.passed(place)):
		return s.settle(0)
	case !s.ended && !s.overdue(place):
		s.image.Forget() // it is read again
		return nil, nil
	case err != nil:
		cause := "unreadable_frame"
		if s.ended && place.Time == s.last {
			cause = "torn_frame"
		}
		s.turn()
		return nil, s.clock.Skip(cause, fmt.Errorf("%s: frame %d: %w", s.path, place.Time, err))
	}
	if err := s.absent(&s.clock, missing, s.ended && place.Time == s.last); err != nil {
		s.turn()
		return nil, err
	}
	return s.settle(missing)
}

// whole says that a frame of which every chunk could be read will not change. Of several in a chunk only a later one says that.
func (s *growingZarr) whole(doubtful bool) bool {
	return s.image.Together() == 1 && (!doubtful || time.Since(s.rests) >= settled)
}

// pause is how long a frame that could not be read is left alone while its files stay as they are; the clock of a drive may be coarse.
func (s *growingZarr) pause() time.Duration {
	if time.Since(s.rests) > giveUp {
		return tryAgain
	}
	return settled
}

// overdue says that a later frame has been there for so long that this one will not become whole.
func (s *growingZarr) overdue(place zarr.Place) bool {
	return s.passed(place) && time.Since(s.later) >= giveUp
}

// passed says whether a later frame was begun.
func (s *growingZarr) passed(place zarr.Place) bool {
	if s.beyond > place.Time {
		return true
	}
	far := 1
	if time.Since(s.looked) >= tryAgain {
		s.looked, far = time.Now(), reach
	}
	if found := s.image.Later(place, far); found > place.Time {
		s.beyond, s.later = found, time.Now()
		s.tail.Alive()
	}
	return s.beyond > place.Time
}

// settle gives the frame.
func (s *growingZarr) settle(missing int) (*frame.Frame, error) {
	s.turn()
	return s.give(&s.clock, missing)
}

// turn goes to the next frame.
func (s *growingZarr) turn() {
	s.rests, s.looked, s.failed, s.state = time.Time{}, time.Now(), nil, zarr.State{}
}
