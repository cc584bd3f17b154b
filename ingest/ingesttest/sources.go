// Package ingesttest has helpers for tests of sources. They make sources from YAML, read them to their end, write files with known pixels, and read the corpus
// of TIFF files.
//
// Camera is a real RTSP server. The test controls its packet loss and its clock. Stream encodes H.264 and H.265 with FFmpeg; each picture shows its own number.
// CZI and ND2 files are written from the same format descriptions as their readers, because no program that writes them was available.
package ingesttest

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// Constructor makes one kind of source.
type Constructor = func(decode func(dst any) error) (pipeline.Source, error)

// New makes a source from YAML options.
func New(t testing.TB, construct Constructor, options string) pipeline.Source {
	t.Helper()
	source, err := construct(DecodeYAML(options))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// Open makes and opens a source; the test closes it.
func Open(t testing.TB, construct Constructor, options string) pipeline.Source {
	t.Helper()
	s := New(t, construct, options)
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// DecodeYAML decodes options as a configuration does.
func DecodeYAML(options string) func(any) error {
	return func(dst any) error {
		return yaml.UnmarshalWithOptions([]byte(options), dst, yaml.DisallowUnknownField())
	}
}

// Seen is a test's record of a frame.
type Seen struct {
	Seq        uint64
	T          float64 // seconds since the Unix epoch
	Trajectory uint64
	File       string    // without its folder
	Corner     []float64 // channels of the first pixel
	Events     []string  // event codes
	Dropped    uint64
}

// ReadAll reads a source to its end. It returns the frames and the causes of skipped frames.
func ReadAll(t testing.TB, s pipeline.Source) (frames []Seen, skipped []string) {
	t.Helper()
	for {
		f, err := s.Read(context.Background())
		var skip *pipeline.ErrSkip
		switch {
		case err == io.EOF:
			return frames, skipped
		case errors.As(err, &skip):
			if strings.ContainsRune(skip.Error(), '\n') {
				t.Errorf("the error is not one line: %q", skip)
			}
			skipped = append(skipped, skip.Cause)
		case err != nil:
			t.Fatal(err)
		default:
			frames = append(frames, Look(t, f))
			f.Close()
		}
	}
}

// Look records a frame. It fails the test if an event is not a warning.
func Look(t testing.TB, f *frame.Frame) Seen {
	if age := time.Since(f.Meta.Arrived); age < 0 || age > time.Minute {
		t.Errorf("frame %d arrived %v ago", f.Seq, age)
	}
	s := Seen{Seq: f.Seq, T: f.Time.Sub(time.Unix(0, 0)).Seconds(), Trajectory: f.Meta.Trajectory, File: filepath.Base(f.Meta.File), Dropped: f.Meta.Dropped}
	for _, e := range f.Meta.Events {
		if !e.Warn {
			t.Errorf("%s is no warning", e.Code)
		}
		s.Events = append(s.Events, e.Code)
	}
	s.Corner = Corner(f.Mat())
	return s
}

// Corner returns the channels of the first pixel.
func Corner(m *frame.Mat) (values []float64) {
	for c := range m.Channels() {
		switch m.Type() & 7 {
		case frame.MatTypeCV8U:
			values = at(values, c, m.DataPtrUint8)
		case frame.MatTypeCV16U:
			values = at(values, c, m.DataPtrUint16)
		case frame.MatTypeCV32F:
			values = at(values, c, m.DataPtrFloat32)
		}
	}
	return values
}

// at appends value i of the slice that lend returns, if it exists.
func at[T uint8 | uint16 | float32](values []float64, i int, lend func() ([]T, error)) []float64 {
	all, err := lend()
	if err != nil || i >= len(all) {
		return values
	}
	return append(values, float64(all[i]))
}

// Noisy returns a frame in which neighbouring bytes and channels differ.
func Noisy(t testing.TB, seq uint64, width, height int, kind frame.MatType) *frame.Frame {
	t.Helper()
	mat := frame.NewMatWithSize(height, width, kind)
	p, err := mat.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	for i := range p {
		p[i] = byte(31*i + i/251 + 7*int(seq))
	}
	f := frame.New(seq, time.Unix(1_700_000_000, 123_456_789+int64(seq)).UTC(), frame.Meta{Trajectory: seq / 2}, mat)
	t.Cleanup(func() { f.Close() })
	return f
}

// BytesOf returns a frame's pixels.
func BytesOf(t testing.TB, f *frame.Frame) []byte {
	t.Helper()
	p, err := f.Mat().DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
