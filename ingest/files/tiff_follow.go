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

// rollsOver is the length in bytes from which a file may go on in another: writers turn to it before 2 or 4 GiB. Of shorter files,
// run.tif and run_1.tif are two recordings.
const rollsOver = 1800 << 20

// growingTIFF gives the pages of a file that is still being written as each is done, and goes on in run_1.tif where run.tif is full.
type growingTIFF struct {
	path  string // of the first part
	clock timing.Clock
	tail  follow.Tail

	part  int // that is open, from 0
	file  *os.File
	pages *tiff.File
	page  tiff.Image
	size  int64
	begun bool // the part behind was there at the last look
	whole bool // the open part grows no more

	opened, behind fileState // of the open part and the one behind it, when it was opened
}

// Info does not know the number of frames.
func (s *growingTIFF) Info() pipeline.Info { return pipeline.Info{Timed: s.clock.Timed()} }

// Open opens the file, which need not hold anything yet.
func (s *growingTIFF) Open(context.Context) error {
	s.clock.Settle()
	s.tail.Alive()
	return s.open()
}

// open begins the current part.
func (s *growingTIFF) open() (err error) {
	if s.file, _, err = format.Open(s.name(s.part)); err != nil {
		return err
	}
	s.pages = tiff.Follow(s.file, s.length)
	s.size, s.begun, s.whole = 0, false, false
	s.opened, s.behind = stateOf(s.name(s.part)), stateOf(s.name(s.part+1))
	return nil
}

// length is the open file's size now. One in whose place another was put would never grow.
func (s *growingTIFF) length() (int64, error) {
	info, err := s.file.Stat()
	if err != nil {
		return 0, err
	}
	if there, err := os.Stat(s.file.Name()); err == nil && !os.SameFile(there, info) {
		return 0, errors.New("another file replaced it: start the run again")
	}
	if info.Size() != s.size {
		s.size = info.Size()
		s.tail.Alive()
	}
	return s.size, nil
}

// name is the path of a part: run.ome.tif, run_1.ome.tif, ...
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

// Read returns the next page once it is whole. A damaged page is skipped as unreadable_page, one that its writer left behind half
// done as torn_page when the recording has ended.
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

// give makes a frame of the page.
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

// await waits for the next page. It never comes when the writer has turned to the next part, or nothing came for too long: then the
// open part is whole. The next part has to be there at two looks, for the last page of this one may have come between them.
func (s *growingTIFF) await(ctx context.Context) error {
	switch {
	case s.clock.Next() == 0 && s.pages.Doubt() != nil && s.tail.Quiet() >= giveUp: // the person's to know
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

// follows says whether the writer has turned to the next part. One that rests while the open part is written was left by an older recording.
func (s *growingTIFF) follows() bool {
	if s.size < rollsOver {
		return false
	}
	next := stateOf(s.name(s.part + 1))
	return next.size > 0 && (next != s.behind || stateOf(s.file.Name()) == s.opened)
}

// turn goes on in the next part.
func (s *growingTIFF) turn() error {
	if err := s.Close(); err != nil {
		return err
	}
	s.part++
	s.tail.Alive()
	return s.open()
}

// judge says what an error of a page means for the stream.
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
