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

// Limits for retries of an unreadable picture. A retry follows each change of its file, and comes from time to time without one, because a drive's clock may be
// coarse. The picture is skipped if it stays unchanged while a later picture exists, or if the recording has ended.
const (
	tryAgain = 200 * time.Millisecond
	giveUp   = 2 * time.Second
)

// growingFolder returns the pictures of a folder as they are completed, in the order of their names. It returns each page of a TIFF. The TIFF ends when a later
// picture exists.
type growingFolder struct {
	path     string
	clock    timing.Clock
	tail     follow.Tail
	arrivals *follow.Arrivals // nil before Open
	last     string           // last picture returned or skipped, at least in part
	ended    bool             // the wait reached its limit

	reader picture.Reader
	state  fileState  // state of the first arrival at the last try
	rests  time.Time  // start of this state
	tried  time.Time  // time of the last try
	file   *os.File   // the first arrival, if it is a TIFF
	pages  *tiff.File // its pages
	page   tiff.Image
}

// fileState holds the properties that change while a file is written.
type fileState struct {
	size     int64
	modified time.Time
}

// stateOf returns zero if there is no file.
func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime()}
}

// Info leaves the number of frames unknown.
func (s *growingFolder) Info() pipeline.Info { return pipeline.Info{Timed: s.clock.Timed()} }

// Open starts to watch the folder, which may be empty.
func (s *growingFolder) Open(context.Context) (err error) {
	s.clock.Settle()
	s.tail.Alive()
	s.arrivals, err = follow.OpenFolder(s.path)
	return err
}

// Read returns the next picture once it is whole. It skips a picture that stays unreadable as unreadable_file, and one that
// arrives after a later one as late_file.
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

// first tries the arrivals in order until one is returned or skipped. It returns nil, nil if Read has to wait.
func (s *growingFolder) first() (*frame.Frame, error) {
	for s.arrivals.Len() > 0 {
		path := s.arrivals.Front()
		if path == s.last && s.file == nil { // arrived again after arrivals had forgotten its name
			s.arrivals.Pop()
			continue
		}
		if s.last != "" && format.Naturally(path, s.last) < 0 {
			s.arrivals.Pop()
			return nil, s.clock.Skip("late_file", fmt.Errorf("%s arrived after %s, although its name comes first: number the pictures in the order in which they are written", path, s.last))
		}
		if s.file != nil && s.file.Name() != path { // it returned no frame
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
		case !errors.As(err, &damaged): // otherwise later pages may be fine
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

// drop finishes the first arrival.
func (s *growingFolder) drop() {
	s.arrivals.Pop()
	s.leave()
}

// leave resets the state that belongs to the arrival tried last.
func (s *growingFolder) leave() {
	s.rests = time.Time{}
	s.closeFile()
}

// try reads the picture at path, or its next page. It returns tiff.ErrPending if a later try may succeed.
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

// idle reports that an unreadable file has not changed, so a retry can wait.
func (s *growingFolder) idle(path string) bool {
	state := stateOf(path)
	if state != s.state || s.rests.IsZero() {
		s.state, s.rests = state, time.Now()
		s.tail.Alive()
		return false
	}
	return time.Since(s.tried) < tryAgain
}

// decode returns the picture, or the next written page of a TIFF.
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

// Close stops watching.
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
