package preprocess

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// options decodes YAML strictly, as a configuration does.
func options(text string) func(any) error {
	return func(dst any) error {
		return yaml.NewDecoder(strings.NewReader(text), yaml.Strict()).Decode(dst)
	}
}

// newStep makes a step; the test closes it.
func newStep(t testing.TB, kind, text string) pipeline.Step {
	t.Helper()
	decode := options(text)
	if text == "" {
		decode = func(any) error { return nil }
	}
	s, err := New(kind, decode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// start is the acquisition time of frame 0 in tests. Frame n follows n/10 s later.
var start = time.Date(2024, 5, 17, 9, 0, 0, 0, time.UTC)

// picture makes a frame of the given type whose values, channel after channel within a pixel, are v.
func picture(t testing.TB, seq uint64, rows, cols int, mt gocv.MatType, v ...float32) *frame.Frame {
	t.Helper()
	m := gocv.NewMatWithSize(rows, cols, mt)
	var n int
	switch depth(&m) {
	case gocv.MatTypeCV8U:
		p, _ := m.DataPtrUint8()
		n = fill(p, v)
	case gocv.MatTypeCV16U:
		p, _ := m.DataPtrUint16()
		n = fill(p, v)
	case gocv.MatTypeCV32F:
		p, _ := m.DataPtrFloat32()
		n = fill(p, v)
	}
	if n != len(v) && len(v) > 1 {
		t.Fatalf("%d values for %d places", len(v), n)
	}
	f := frame.New(seq, start.Add(time.Duration(seq)*100*time.Millisecond), frame.Meta{}, m)
	t.Cleanup(func() { f.Close() })
	return f
}

// fill copies v, or repeats it if it is a single value.
func fill[T uint8 | uint16 | float32](p []T, v []float32) int {
	for i := range p {
		p[i] = T(v[i%len(v)])
	}
	return len(p)
}

// values returns the values of a frame.
func values(t testing.TB, f *frame.Frame) []float32 {
	t.Helper()
	m := gocv.NewMat()
	defer m.Close()
	f.Mat().ConvertTo(&m, gocv.MatTypeCV32F)
	p, err := m.DataPtrFloat32()
	if err != nil {
		t.Fatal(err)
	}
	return append([]float32(nil), p...)
}

func apply(t testing.TB, s pipeline.Step, f *frame.Frame) {
	t.Helper()
	if err := s.Apply(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct{ kind, options, want string }{
		{"blur", "", `step kind "blur" is not known: give one of clahe, defects, illumination, normalise, resize, roi`},
		{"normalise", "windows: [0, 1]", "unknown field"},
		{"normalise", "window: [5, 5]", "step normalise: window: found [5 5], expected [low, high] with low < high, in the frame's own counts"},
		{"normalise", "to: uint16", `step normalise: to: found "uint16", expected float32 or uint8`},
		{"normalise", "{window: [0, 9], running: {half_life: 3s}}", "found both"},
		{"normalise", "running: {low_percentile: 0}", "found 0 and 99.9, expected 0 < low < high < 100"},
		{"normalise", "running: {half_life: 10us}", "running.half_life: found 10µs, expected at least 1ms"},
		{"clahe", "clip_limit: 0", "step clahe: clip_limit: found 0, expected more than 0 and at most 256"},
		{"clahe", "tiles: 65", "step clahe: tiles: found 65, expected 1 to 64"},
		{"illumination", "reference: [AAAA]", "step illumination: reference[0]: found 3 bytes, expected 64 in base64"},
		{"illumination", "window: [0, 1]", "reference: found 0 rows, expected 32"},
		{"illumination", "{window: [3, 3], reference: " + blankReference + "}", "window: found [3 3], expected [low, high] with low < high"},
		{"illumination", "{window: [0, 9], scale: -1, reference: " + blankReference + "}", "scale: found -1, expected 0 or more"},
		{"resize", "width: 64", "step resize: width, height: found 64x0, expected 1 to 16384 pixels each"},
		{"roi", "", "step roi: the region is missing or given twice, expected one of: x, y, width and height; centre and size; search"},
		{"roi", "{x: 1, y: 1, width: 4, height: 4, search: {size: 4}}", "expected one of"},
		{"roi", "{x: -1, width: 4, height: 4}", "x, y: found -1, 0, expected 0 to 16384"},
		{"roi", "{x: 1, width: 4}", "width, height: found 4x0"},
		{"roi", "size: 64", "size is given without centre"},
		{"roi", "{centre: [-3, 4], size: 64}", "centre: found [-3 4], expected [x, y] within 0 to 16384"},
		{"roi", "centre: [3, 4]", "size: found 0"},
		{"roi", "search: {frames: 30}", "search.size: found 0"},
		{"roi", "search: {size: 8, frames: 1000}", "search.frames: found 1000, expected 1 to 256"},
	} {
		decode := options(c.options)
		if c.options == "" {
			decode = func(any) error { return nil }
		}
		s, err := New(c.kind, decode)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s {%s}: found error %v, expected %q in it", c.kind, c.options, err, c.want)
		}
	}
}
