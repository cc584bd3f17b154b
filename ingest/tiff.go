package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/tiff"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// tiffOptions are the keys of a TIFF source.
type tiffOptions struct {
	Path string  `yaml:"path"` // one file of one or more pages
	DT   float64 `yaml:"dt"`   // seconds from frame to frame
	FPS  float64 `yaml:"fps"`  // frames a second, in place of dt

	Channel int `yaml:"channel"` // of a hyperstack, from 1
	Slice   int `yaml:"slice"`   // the same

	Follow    bool          `yaml:"follow"`     // wait for more pages where the file ends
	UntilIdle time.Duration `yaml:"until_idle"` // how long, at most; default: for ever
}

// tiffSource gives the pages of a file in their order; of a hyperstack those of the chosen channel and slice, or every one.
type tiffSource struct {
	path string
	clock
	choice choice
	series tiff.Series
	stack  stack
	at     int  // the page behind the one that was read last
	first  bool // the stack's page was read by Open and not yet given
}

func newTIFF(decode func(dst any) error) (pipeline.Source, error) {
	var o tiffOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Path == "" {
		return nil, errors.New("path is missing: give a TIFF file")
	}
	c, err := newClock(o.DT, o.FPS)
	if err != nil {
		return nil, err
	}
	t, err := newTail(o.Follow, o.UntilIdle)
	if err != nil {
		return nil, err
	}
	chosen := choice{o.Channel, o.Slice}
	if o.Channel < 0 || o.Slice < 0 {
		return nil, fmt.Errorf("channel: %d, slice: %d, numbers from 1 expected", o.Channel, o.Slice)
	}
	if o.Follow && chosen.made() {
		return nil, errors.New("channel and slice of a file that is followed cannot be chosen, for its description is often written last: follow an NDTiff, or a file of one channel")
	}
	if o.Follow {
		return &growingTIFF{path: o.Path, clock: c, tail: t}, nil
	}
	return &tiffSource{path: o.Path, clock: c, choice: chosen}, nil
}

// Open reads the first page, so that a file without one is refused here.
func (s *tiffSource) Open(context.Context) error {
	if err := s.open(); err != nil {
		s.stack.close()
		return fmt.Errorf("%s: %w", s.path, err)
	}
	oneSeries := s.choice.made() || !s.series.Mixed()
	if oneSeries {
		s.described(s.series.Interval)
	}
	s.settle()
	if !oneSeries {
		s.mixed(s.series)
	}
	return nil
}

func (s *tiffSource) open() error {
	if err := s.stack.open(s.path); err != nil {
		return err
	}
	if err := s.stack.pages.Next(&s.stack.page); err != nil {
		return err
	}
	s.series = s.stack.pages.Series()
	var err error
	if s.choice, err = s.choice.of(s.series); err != nil {
		return err
	}
	s.at, s.first = 1, s.choice.has(s.series, 0)
	return nil
}

// described takes the time step that a file's description gives where the person gave none.
func (c *clock) described(interval float64) {
	if c.timed || !(minInterval <= interval && interval <= maxInterval) {
		return
	}
	c.interval, c.timed = interval, true
	c.warn("described_interval", fmt.Sprintf("time steps are the %.6g s of the file's description, which may be what the camera was asked for: give --dt or --fps if it was faster or slower", interval))
}

// mixed warns of a series whose pages differ in more than time.
func (c *clock) mixed(s tiff.Series) {
	c.warn("mixed_pages", fmt.Sprintf("the file has %d channels and %d slices at each time, which are read as one series: choose one of each, as tiff:FILE?channel=1&slice=1", s.Channels, s.Slices))
}

// Frames is the number of pages that were chosen; good after Open.
func (s *tiffSource) Frames() (n int) {
	if s.stack.pages == nil {
		return 0
	}
	for page := range s.stack.pages.Pages() {
		if s.choice.has(s.series, page) {
			n++
		}
	}
	return n
}

// Compression is how the page that was read last is packed; good after Open.
func (s *tiffSource) Compression() string {
	if s.stack.pages == nil {
		return ""
	}
	return s.stack.pages.Compression()
}

// Read returns the next page. One that is damaged is skipped as unreadable_page; a file that ends before its pages do fails,
// after the pages before the tear.
func (s *tiffSource) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.first {
		s.pass()
		if err := s.stack.pages.Next(&s.stack.page); err == io.EOF {
			return nil, err
		} else if errors.Is(err, tiff.ErrTorn) {
			return nil, fmt.Errorf("%s: %w; the pages before it were read", s.path, err)
		} else if err != nil {
			return nil, s.skip("unreadable_page", fmt.Errorf("%s: %w", s.path, err))
		}
	}
	s.first = false
	mat, err := toMat(&s.stack.page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return s.frame(mat, s.now(), frame.Meta{File: s.path})
}

// pass goes to the next page that was chosen.
func (s *tiffSource) pass() {
	for ; s.at < s.stack.pages.Pages() && !s.choice.has(s.series, s.at); s.at++ {
		s.stack.pages.Skip()
	}
	s.at++
}

// Close closes the file.
func (s *tiffSource) Close() error { return s.stack.close() }

// stack is an open TIFF file with the memory of its current page.
type stack struct {
	file  *os.File
	pages *tiff.File
	page  tiff.Image
}

func (s *stack) open(path string) error {
	file, size, err := openRegular(path)
	if err != nil {
		return err
	}
	s.file = file
	s.pages, err = tiff.Open(file, size)
	return err
}

// close may be called at any time.
func (s *stack) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// matType is OpenCV's name for a page's pixels.
func matType(page *tiff.Image) gocv.MatType {
	channels := gocv.MatType((page.Channels - 1) << 3)
	switch page.Depth {
	case tiff.Uint8:
		return gocv.MatTypeCV8U + channels
	case tiff.Uint16:
		return gocv.MatTypeCV16U + channels
	}
	return gocv.MatTypeCV32F + channels
}

// toMat copies a page to a new Mat, which the caller owns; red, green and blue become blue, green and red.
func toMat(page *tiff.Image) (gocv.Mat, error) {
	mat := gocv.NewMatWithSize(page.Height, page.Width, matType(page))
	dst, err := mat.DataPtrUint8()
	if err != nil || len(dst) != len(page.Pix) {
		mat.Close()
		return gocv.Mat{}, fmt.Errorf("OpenCV gave %d bytes for a page of %d: free memory", len(dst), len(page.Pix))
	}
	if page.Channels == 1 {
		copy(dst, page.Pix)
		return mat, nil
	}
	swapRedBlue(dst, page.Pix, page.Depth.Bytes())
	return mat, nil
}

// swapRedBlue copies pixels of three samples of size bytes each, the first and the last in each other's place.
func swapRedBlue(dst, src []byte, size int) {
	for pixel := 0; pixel < len(dst); pixel += 3 * size {
		copy(dst[pixel:pixel+size], src[pixel+2*size:])
		copy(dst[pixel+size:pixel+2*size], src[pixel+size:])
		copy(dst[pixel+2*size:pixel+3*size], src[pixel:])
	}
}

// toPage copies a frame's pixels to dst, reusing its memory; blue, green and red become red, green and blue.
func toPage(dst *tiff.Image, mat *gocv.Mat) error {
	if mat.Ptr() == nil || mat.Empty() || !mat.IsContinuous() || len(mat.Size()) != 2 {
		return errors.New("a frame without pixels, or with gaps between its rows: its source is at fault")
	}
	switch kind := mat.Type(); kind {
	case gocv.MatTypeCV8UC1, gocv.MatTypeCV8UC3:
		dst.Depth = tiff.Uint8
	case gocv.MatTypeCV16UC1, gocv.MatTypeCV16UC3:
		dst.Depth = tiff.Uint16
	case gocv.MatTypeCV32FC1, gocv.MatTypeCV32FC3:
		dst.Depth = tiff.Float32
	default:
		return fmt.Errorf("%s, 8 or 16 bits unsigned or float32 of 1 or 3 channels expected: convert the source's pictures", pixels(int(kind)))
	}
	src, err := mat.DataPtrUint8()
	if err != nil {
		return err
	}
	dst.Width, dst.Height, dst.Channels = mat.Cols(), mat.Rows(), mat.Channels()
	if dst.Channels == 1 {
		dst.Pix = append(dst.Pix[:0], src...)
		return nil
	}
	dst.Pix = slices.Grow(dst.Pix[:0], len(src))[:len(src)]
	swapRedBlue(dst.Pix, src, dst.Depth.Bytes())
	return nil
}
