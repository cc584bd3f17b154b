package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"driftscope/ingest/follow"
	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// rollsOver is the length in bytes from which a file may continue in a second one: writers switch before 2 or 4 GiB. For
// shorter files, run.tif and run_1.tif are two recordings.
const rollsOver = 1800 << 20

// growingTIFF returns each page of a growing file once the page is complete, and continues in run_1.tif when run.tif is full.
type growingTIFF struct {
	path  string // path of the first part
	clock timing.Clock
	tail  follow.Tail

	part  int // index of the open part, from 0
	file  *os.File
	pages *tiff.File
	page  tiff.Image
	size  int64
	begun bool // the next part existed at the last check
	whole bool // the open part is complete

	opened, behind fileState // states of the open part and of the next one at Open
}

// Info leaves the number of frames unknown.
func (s *growingTIFF) Info() pipeline.Info { return pipeline.Info{Timed: s.clock.Timed()} }

// Open opens the file, which may still be empty.
func (s *growingTIFF) Open(context.Context) error {
	s.clock.Settle()
	s.tail.Alive()
	return s.open()
}

// open opens the current part.
func (s *growingTIFF) open() (err error) {
	if s.file, _, err = format.Open(s.name(s.part)); err != nil {
		return err
	}
	s.pages = tiff.Follow(s.file, s.length)
	s.size, s.begun, s.whole = 0, false, false
	s.opened, s.behind = stateOf(s.name(s.part)), stateOf(s.name(s.part+1))
	return nil
}

// length returns the open file's current size. It returns an error if another file replaced it, because it would never grow.
func (s *growingTIFF) length() (int64, error) {
	info, err := s.file.Stat()
	if err != nil {
		return 0, err
	}
	if there, err := os.Stat(s.file.Name()); err == nil && !os.SameFile(there, info) {
		return 0, errors.New("another file replaced this one: start the run again")
	}
	if info.Size() != s.size {
		s.size = info.Size()
		s.tail.Alive()
	}
	return s.size, nil
}

// name returns the path of a part: run.ome.tif, run_1.ome.tif, ...
func (s *growingTIFF) name(part int) string {
	if part == 0 {
		return s.path
	}
	ends := filepath.Ext(s.path)
	stem := strings.TrimSuffix(s.path, ends)
	if ome := filepath.Ext(stem); strings.EqualFold(ome, ".ome") {
		stem, ends = strings.TrimSuffix(stem, ome), ome+ends
	}
	return fmt.Sprintf("%s_%d%s", stem, part, ends)
}

// Read returns the next page once it is whole. It skips a damaged page as unreadable_page. After the end of the recording it skips an unfinished page as
// torn_page.
func (s *growingTIFF) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := s.pages.Next(&s.page)
		switch {
		case err == nil:
			return s.give()
		case err == io.EOF && s.begun:
			err = s.turn()
		case err == tiff.ErrPending:
			err = s.await(ctx)
		default:
			err = s.judge(err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// give makes a frame of the current page.
func (s *growingTIFF) give() (*frame.Frame, error) {
	s.tail.Alive()
	if s.clock.Next() == 0 {
		if series := s.pages.Series(); series.Mixed() {
			mixed(&s.clock, series)
		}
	}
	mat, err := picture.ToMat(&s.page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	return s.clock.Frame(mat, s.clock.Now(), frame.Meta{File: s.file.Name()})
}

// await waits for the next page. The open part is complete if the writer switched to the next part, or if the wait reached
// its limit. The next part has to exist at two checks, because the last page of this part may have arrived between them.
func (s *growingTIFF) await(ctx context.Context) error {
	switch {
	case s.clock.Next() == 0 && s.pages.Doubt() != nil && s.tail.Quiet() >= giveUp: // the user must see the error
		return fmt.Errorf("%s: %w", s.file.Name(), s.pages.Doubt())
	case s.begun:
		s.whole = true
	case s.follows():
		s.begun = true
		return nil
	default:
		err := s.tail.Wait(ctx)
		if err != io.EOF {
			return err
		}
		s.whole = true
	}
	s.pages.Finish()
	return nil
}

// follows reports whether the writer switched to the next part. If the next part does not grow while the open part does, it belongs to an older recording.
func (s *growingTIFF) follows() bool {
	if s.size < rollsOver {
		return false
	}
	next := stateOf(s.name(s.part + 1))
	return next.size > 0 && (next != s.behind || stateOf(s.file.Name()) == s.opened)
}

// turn continues in the next part.
func (s *growingTIFF) turn() error {
	if err := s.Close(); err != nil {
		return err
	}
	s.part++
	s.tail.Alive()
	return s.open()
}

// judge returns the error of the stream for an error of a page: a skip, or the end.
func (s *growingTIFF) judge(err error) error {
	var page *tiff.PageError
	switch {
	case err == io.EOF:
		return err
	case !errors.As(err, &page), page.Page == 1 && !s.whole:
		return fmt.Errorf("%s: %w", s.file.Name(), err)
	case s.whole && errors.Is(err, tiff.ErrTorn):
		return s.clock.Skip("torn_page", fmt.Errorf("%s: %w: the writer stopped within it", s.file.Name(), err))
	}
	return s.clock.Skip("unreadable_page", fmt.Errorf("%s: %w", s.file.Name(), err))
}

// Close closes the open part.
func (s *growingTIFF) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
