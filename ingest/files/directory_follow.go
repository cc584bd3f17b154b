package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"driftscope/ingest/follow"
	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// The patience with a picture that cannot be read. It is tried again when its file has changed, and now and then, for the clock of a
// drive may be coarse; it is given up when it rests while a later one is there, or when the recording has ended.
const (
	tryAgain = 200 * time.Millisecond
	giveUp   = 2 * time.Second
)

// growingFolder gives the pictures of a folder as they are done, in the order of their names. A TIFF among them gives its pages, and
// has ended when a later picture is there.
type growingFolder struct {
	path     string
	clock    timing.Clock
	tail     follow.Tail
	arrivals *follow.Arrivals // nil before Open
	last     string           // the picture that was given or skipped last, be it in part
	ended    bool             // nothing came for too long

	reader picture.Reader
	state  fileState  // of the first arrival, when it was tried
	rests  time.Time  // since when it is in this state
	tried  time.Time  // when
	file   *os.File   // the first arrival, where it is a TIFF
	pages  *tiff.File // in it
	page   tiff.Image
}

// fileState is what changes while a file is written.
type fileState struct {
	size     int64
	modified time.Time
}

// stateOf is zero where there is no file.
func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime()}
}

// Info does not know the number of frames.
func (s *growingFolder) Info() pipeline.Info { return pipeline.Info{Timed: s.clock.Timed()} }

// Open begins to watch the folder, which may be empty.
func (s *growingFolder) Open(context.Context) (err error) {
	s.clock.Settle()
	s.tail.Alive()
	s.arrivals, err = follow.OpenFolder(s.path)
	return err
}

// Read returns the next picture once it is whole. One that stays unreadable is skipped as unreadable_file, one that comes after a
// later one as late_file.
func (s *growingFolder) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err := s.arrivals.Look()
		if err != nil {
			return nil, err
		}
		if more {
			continue
		}
		if s.arrivals.Seeking() {
			s.tail.Alive()
		}
		if f, err := s.first(); f != nil || err != nil {
			s.tail.Alive()
			s.ended = false
			return f, err
		}
		if s.ended {
			return nil, io.EOF
		}
		if err := s.tail.Wait(ctx); err == io.EOF {
			s.ended = true
		} else if err != nil {
			return nil, err
		}
	}
}

// first tries the arrivals in their order until one gives a frame or is skipped. It returns neither where one has to be waited for.
func (s *growingFolder) first() (*frame.Frame, error) {
	for s.arrivals.Len() > 0 {
		path := s.arrivals.Front()
		if path == s.last && s.file == nil { // it was given so long ago that its name was forgotten, and came again
			s.arrivals.Pop()
			continue
		}
		if s.last != "" && format.Naturally(path, s.last) < 0 {
			s.arrivals.Pop()
			return nil, s.clock.Skip("late_file", fmt.Errorf("%s came after %s, which is behind it: number the pictures in the order in which they are written", path, s.last))
		}
		if s.file != nil && s.file.Name() != path { // which has given nothing
			s.leave()
		}
		mat, err := s.try(path)
		if err != tiff.ErrPending {
			s.last = path
		}
		var damaged *tiff.PageError
		switch {
		case err == nil:
			return s.give(mat, path)
		case err == io.EOF:
			s.drop()
			continue
		case err == tiff.ErrPending:
			return nil, nil
		case errors.Is(err, picture.ErrNoDecoder):
			return nil, err
		case !errors.As(err, &damaged): // else the pages behind may be fine
			s.drop()
		}
		return nil, s.clock.Skip("unreadable_file", err)
	}
	return nil, nil
}

func (s *growingFolder) give(mat frame.Mat, path string) (*frame.Frame, error) {
	if s.file == nil {
		s.drop()
	}
	return s.clock.Frame(mat, s.clock.Now(), frame.Meta{File: path})
}

// drop is done with the first arrival.
func (s *growingFolder) drop() {
	s.arrivals.Pop()
	s.leave()
}

// leave forgets how far the arrival that was tried last had come.
func (s *growingFolder) leave() {
	s.rests = time.Time{}
	s.closeFile()
}

// try reads the picture at path, or the next page of it. It returns tiff.ErrPending where there is hope.
func (s *growingFolder) try(path string) (frame.Mat, error) {
	if s.idle(path) && s.pages == nil && !s.ended {
		return frame.Mat{}, tiff.ErrPending
	}
	s.tried = time.Now()
	mat, err := s.decode(path)
	hopeless := s.ended || s.arrivals.Len() > 1 && (time.Since(s.rests) >= giveUp || s.pages != nil && s.pages.Resting())
	switch {
	case errors.Is(err, picture.ErrNoDecoder):
		return mat, err
	case err == tiff.ErrPending && hopeless:
		s.pages.Finish()
		return s.decode(path)
	case err == nil, s.pages != nil, hopeless:
		return mat, err
	}
	return mat, tiff.ErrPending
}

// idle says that a file which could not be read is as it was, and need not be tried yet.
func (s *growingFolder) idle(path string) bool {
	state := stateOf(path)
	if state != s.state || s.rests.IsZero() {
		s.state, s.rests = state, time.Now()
		s.tail.Alive()
		return false
	}
	return time.Since(s.tried) < tryAgain
}

// decode returns the picture, or the next page of it, as far as they are there.
func (s *growingFolder) decode(path string) (frame.Mat, error) {
	if s.pages == nil && isTIFF(path) {
		file, _, err := format.Open(path)
		if err != nil {
			return frame.Mat{}, err
		}
		s.file = file
		s.pages = tiff.Follow(file, func() (int64, error) {
			info, err := file.Stat()
			if err != nil {
				return 0, err
			}
			return info.Size(), nil
		})
	}
	if s.pages == nil {
		return readPicture(&s.reader, path, &s.clock)
	}
	err := s.pages.Next(&s.page)
	switch {
	case err == io.EOF, err == tiff.ErrPending:
		return frame.Mat{}, err
	case err != nil:
		return frame.Mat{}, fmt.Errorf("%s: %w", path, err)
	}
	return picture.ToMat(&s.page)
}

// Close ends the watching.
func (s *growingFolder) Close() error {
	err := s.closeFile()
	if s.arrivals == nil {
		return err
	}
	return errors.Join(err, s.arrivals.Close())
}

func (s *growingFolder) closeFile() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file, s.pages = nil, nil
	return err
}
