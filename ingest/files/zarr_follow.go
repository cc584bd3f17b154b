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
	// settled is the time that a possibly incomplete file must stay unchanged: two checks. A frame's files arrive within 100 ms.
	settled = 50 * time.Millisecond
	// reach is the number of frames after a missing one that are checked from time to time. Writers on many cores run ahead by a few frames.
	reach = 64
)

// growingZarr returns each frame of a growing store when its chunks are whole. It ignores the number of frames in the
// metadata, because some writers write it first and some last.
type growingZarr struct {
	zarrStore
	clock timing.Clock
	tail  follow.Tail

	state   zarr.State // state of the awaited frame
	rests   time.Time  // start of this state
	tried   time.Time  // time of the last read
	failed  error      // error of the last read
	looked  time.Time  // last check for frames far ahead
	beyond  int        // an existing later frame; 0 if none is known
	later   time.Time  // when it was found
	ended   bool       // the wait reached its limit
	last    int        // the last frame with any data, once ended
	checked time.Time  // last read of the metadata
	torn    time.Time  // before the first frame: time since which the metadata are incomplete
}

// Info leaves the number of frames unknown. The frames' times are known after the first read.
func (s *growingZarr) Info() pipeline.Info { return pipeline.Info{Timed: s.clock.Timed()} }

// Open opens the store, which may be empty.
func (s *growingZarr) Open(context.Context) error {
	s.tail.Alive()
	if err := s.open(&s.clock); err != nil && !s.awaited(err) {
		return err
	}
	return nil
}

// awaited reports that the metadata may still be incomplete because they are being written. Metadata that stay damaged are an error for the user.
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

// Read returns the next frame once it is whole. If later frames arrive, it skips a frame that stays damaged as unreadable_frame, and one that was never written
// as missing_frame. After the end of the recording it skips an incomplete last frame as torn_frame.
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

// end returns the result of Read after the last frame.
func (s *growingZarr) end() error {
	if s.image == nil {
		return fmt.Errorf("%s: no complete metadata arrived: give the folder of an OME-Zarr picture", s.path)
	}
	return io.EOF
}

// finish treats the store as complete.
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

// next returns the next frame or an error. It returns nil, nil if Read has to wait.
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
		return nil, fmt.Errorf("%s has more than %d frames: split the recording", s.path, zarr.MaxFrames)
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

// look records the written parts of a frame.
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

// anew returns an error if a new recording has replaced the store's.
func (s *growingZarr) anew() error {
	if time.Since(s.checked) < tryAgain {
		return nil
	}
	s.checked = time.Now()
	return s.image.Again()
}

// try reads a frame with at least some data.
func (s *growingZarr) try(place zarr.Place) (*frame.Frame, error) {
	s.tried = time.Now()
	missing, doubtful, err := s.image.Read(&s.page, place)
	s.failed = err
	switch {
	case err == nil && missing == 0 && (s.ended || s.whole(doubtful) || s.passed(place)):
		return s.settle(0)
	case !s.ended && !s.overdue(place):
		s.image.Forget() // try reads it again
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

// whole reports that a frame whose chunks are all readable will not change. If a chunk contains several frames, only a later chunk proves this.
func (s *growingZarr) whole(doubtful bool) bool {
	return s.image.Together() == 1 && (!doubtful || time.Since(s.rests) >= settled)
}

// pause returns how long an unreadable frame waits for a retry while its files stay unchanged; a drive's clock may be coarse.
func (s *growingZarr) pause() time.Duration {
	if time.Since(s.rests) > giveUp {
		return tryAgain
	}
	return settled
}

// overdue reports that a later frame has existed for so long that this one will stay incomplete.
func (s *growingZarr) overdue(place zarr.Place) bool {
	return s.passed(place) && time.Since(s.later) >= giveUp
}

// passed reports whether a later frame was started.
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

// settle makes a frame of the page read last and moves to the next frame.
func (s *growingZarr) settle(missing int) (*frame.Frame, error) {
	s.turn()
	return s.give(&s.clock, missing)
}

// turn moves to the next frame.
func (s *growingZarr) turn() {
	s.rests, s.looked, s.failed, s.state = time.Time{}, time.Now(), nil, zarr.State{}
}
