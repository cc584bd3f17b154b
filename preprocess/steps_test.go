package preprocess

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// ramp returns a smooth test picture in 0..255 with structure in every tile.
func ramp(rows, cols int) []float32 {
	v := make([]float32, rows*cols)
	for i := range v {
		x, y := float64(i%cols), float64(i/cols)
		v[i] = float32(math.Round(127 + 80*math.Sin(x/7)*math.Cos(y/5) + 40*x/float64(cols)))
	}
	return v
}

// Floats must give OpenCV's result for the same picture in 8 bits, and 8 bits the same result in place as out of place.
func TestCLAHE(t *testing.T) {
	const rows, cols = 96, 100 // 100 is no multiple of 8, so OpenCV pads
	v := ramp(rows, cols)
	source := picture(t, 0, rows, cols, gocv.MatTypeCV8UC1, v...)
	reference := gocv.NewCLAHEWithParams(7.68, image.Pt(8, 8))
	defer reference.Close()
	equalised := gocv.NewMat()
	defer equalised.Close()
	reference.Apply(*source.Mat(), &equalised)
	want, err := equalised.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}

	s := newStep(t, "clahe", "")
	apply(t, s, source)
	for i, got := range values(t, source) {
		if got != float32(want[i]) {
			t.Fatalf("uint8, pixel %d: found %g, expected %d", i, got, want[i])
		}
	}
	scaled := make([]float32, len(v))
	for i := range v {
		scaled[i] = v[i] / 255
	}
	for range 2 { // the second time reuses the scratch memory
		f := picture(t, 0, rows, cols, gocv.MatTypeCV32FC1, scaled...)
		apply(t, s, f)
		for i, got := range values(t, f) {
			if math.Abs(float64(got)-float64(want[i])/255) > 1e-6 {
				t.Fatalf("float32, pixel %d: found %g, expected %d/255", i, got, want[i])
			}
		}
	}
}

func TestResize(t *testing.T) {
	f := picture(t, 0, 2, 4, gocv.MatTypeCV16UC1, 0, 100, 200, 300, 100, 200, 300, 60000)
	apply(t, newStep(t, "resize", "{width: 2, height: 1}"), f)
	if got := values(t, f); len(got) != 2 || got[0] != 100 || got[1] != 15200 {
		t.Errorf("shrunk: found %v, expected the means 100 and 15200", got)
	}
	f = picture(t, 0, 1, 2, gocv.MatTypeCV32FC3, 0, 1, 2, 4, 5, 6)
	apply(t, newStep(t, "resize", "{width: 4, height: 2}"), f)
	if m := f.Mat(); m.Cols() != 4 || m.Rows() != 2 || m.Channels() != 3 {
		t.Errorf("enlarged: found %dx%dx%d, expected 4x2x3", m.Cols(), m.Rows(), m.Channels())
	}
	if got := values(t, f); got[3] != 1 || got[6] != 3 { // a quarter and three quarters of the way from 0 to 4
		t.Errorf("enlarged: found %v, expected linear interpolation", got)
	}
	before := f.Mat().Ptr()
	apply(t, newStep(t, "resize", "{width: 4, height: 2}"), f)
	if f.Mat().Ptr() != before {
		t.Error("a picture of the right size was replaced")
	}
}

func TestROI(t *testing.T) {
	v := make([]float32, 60)
	for i := range v {
		v[i] = float32(i)
	}
	for _, c := range []struct {
		options string
		want    []float32
	}{
		{"{x: 2, y: 1, width: 3, height: 2}", []float32{12, 13, 14, 22, 23, 24}},
		{"{centre: [3, 2], size: 3}", []float32{12, 13, 14, 22, 23, 24, 32, 33, 34}},
		{"{centre: [3.5, 2.5], size: 2}", []float32{23, 24, 33, 34}},
	} {
		f := picture(t, 0, 6, 10, gocv.MatTypeCV8UC1, v...)
		apply(t, newStep(t, "roi", c.options), f)
		got := values(t, f)
		if len(got) != len(c.want) {
			t.Fatalf("%s: found %v, expected %v", c.options, got, c.want)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: found %v, expected %v", c.options, got, c.want)
				break
			}
		}
	}
}

// TestROIMove: the region moves to the given corner, and a new trajectory begins there.
func TestROIMove(t *testing.T) {
	s := newStep(t, "roi", "{x: 1, y: 0, width: 2, height: 2}").(*roi)
	next := func() *frame.Frame {
		f := picture(t, 0, 3, 4, gocv.MatTypeCV8UC1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
		apply(t, s, f)
		return f
	}
	if _, ok := s.Reach(); ok {
		t.Error("how far it can go is known before a frame")
	}
	if f := next(); values(t, f)[0] != 1 || f.Meta.Trajectory != 0 {
		t.Errorf("found %v, trajectory %d", values(t, f), f.Meta.Trajectory)
	}
	if reach, ok := s.Reach(); !ok || reach != image.Pt(2, 1) {
		t.Errorf("found a reach of %v, %v", reach, ok)
	}
	if err := s.Move(image.Pt(2, 1)); err != nil {
		t.Fatal(err)
	}
	if f := next(); values(t, f)[0] != 6 || f.Meta.Trajectory != 1 {
		t.Errorf("found %v, trajectory %d", values(t, f), f.Meta.Trajectory)
	}
	searching := newStep(t, "roi", "search: {size: 2, frames: 8}").(*roi)
	f := picture(t, 0, 3, 4, gocv.MatTypeCV8UC1, 0, 0, 0, 0, 0, 0, 9, 9, 0, 0, 9, 9)
	apply(t, searching, f)
	if err := searching.Move(image.Pt(0, 0)); err != nil || searching.finder != nil {
		t.Errorf("a search goes on after it was told where to look: %v", err)
	}
}

// TestOverview: a frame for display has the bounds of the picture and of the region, with a picture on request. Of two regions, the first counts.
func TestOverview(t *testing.T) {
	for name, c := range map[string]struct {
		rows, cols int
		kind       gocv.MatType
		size       image.Point
		at         image.Point // the only dark pixel of the picture
		dark       color.RGBA
	}{
		"as it is":     {6, 10, gocv.MatTypeCV8UC1, image.Pt(10, 6), image.Pt(9, 5), color.RGBA{0, 0, 0, 255}},
		"not a number": {6, 10, gocv.MatTypeCV32FC1, image.Pt(10, 6), image.Pt(9, 5), color.RGBA{0, 0, 0, 255}},
		"colour":       {6, 10, gocv.MatTypeCV16UC3, image.Pt(10, 6), image.Pt(9, 5), color.RGBA{255, 0, 0, 255}},
		"shrunk":       {100, 512, gocv.MatTypeCV8UC1, image.Pt(256, 50), image.Pt(255, 49), color.RGBA{0, 0, 0, 255}},
	} {
		m := gocv.NewMatWithSize(c.rows, c.cols, c.kind)
		m.SetTo(gocv.NewScalar(200, 200, 200, 0))
		corner := m.Region(image.Rect(c.cols-2, c.rows-2, c.cols, c.rows))
		corner.SetTo(gocv.NewScalar(100, 100, 200, 0)) // blue, green, red
		corner.Close()
		if c.kind == gocv.MatTypeCV32FC1 {
			m.SetFloatAt(0, 0, float32(math.NaN()))
		}
		f := frame.New(0, start, frame.Meta{Overview: &frame.Overview{Draw: true}}, m)
		apply(t, newStep(t, "roi", "{x: 1, y: 2, width: 4, height: 3}"), f)
		apply(t, newStep(t, "roi", "{x: 1, y: 1, width: 2, height: 2}"), f)
		f.Close()
		o := f.Meta.Overview
		if o.Region != image.Rect(1, 2, 5, 5) || o.Whole != image.Pt(c.cols, c.rows) || o.Picture == nil || o.Picture.Bounds().Size() != c.size {
			t.Fatalf("%s: found %+v", name, o)
		}
		if dark, bright := o.Picture.At(c.at.X, c.at.Y), o.Picture.At(c.size.X/2, 0); color.RGBAModel.Convert(dark) != c.dark || color.RGBAModel.Convert(bright) != (color.RGBA{255, 255, 255, 255}) {
			t.Errorf("%s: dark is %v, bright %v", name, dark, bright)
		}
	}
	f := picture(t, 0, 6, 10, gocv.MatTypeCV8UC1, 1)
	f.Meta.Overview = &frame.Overview{}
	apply(t, newStep(t, "roi", "{x: 1, y: 2, width: 4, height: 3}"), f)
	if o := f.Meta.Overview; o.Picture != nil || o.Region.Empty() {
		t.Errorf("without being asked for a picture: found %+v", o)
	}
}

func BenchmarkOverview(b *testing.B) {
	m := gocv.NewMatWithSize(2048, 2048, gocv.MatTypeCV16U)
	defer m.Close()
	for b.Loop() {
		overview(&m)
	}
}

func TestROISearch(t *testing.T) {
	const side, size, frames = 300, 40, 8
	s := newStep(t, "roi", "search: {size: 40, frames: 8}").(*roi)
	for n := range uint64(frames + 4) {
		at := Point{180 + 12*math.Sin(float64(n)), 90 + 12*math.Cos(float64(n))}
		f := picture(t, n, side, side, gocv.MatTypeCV8UC1, blob(side, side, at, 5, 20, 150)...)
		f.Meta.Trajectory = 5
		apply(t, s, f)
		if m := f.Mat(); m.Cols() != size || m.Rows() != size {
			t.Fatalf("frame %d: found %dx%d, expected a region from the first frame on", n, m.Cols(), m.Rows())
		}
		set := len(f.Meta.Events) == 1 && f.Meta.Events[0].Code == "roi_set"
		if set != (n == frames-1) {
			t.Errorf("frame %d: found events %v, expected roi_set on frame %d only", n, f.Meta.Events, frames-1)
		}
		// The first region is centred on the first position, the last on the mean position, so a new trajectory must begin.
		if want := uint64(5); n < frames-1 && f.Meta.Trajectory != want {
			t.Errorf("frame %d: found trajectory %d, expected %d", n, f.Meta.Trajectory, want)
		} else if n >= frames-1 && f.Meta.Trajectory != want+1 {
			t.Errorf("frame %d: found trajectory %d, expected %d: the region moved", n, f.Meta.Trajectory, want+1)
		}
	}
	middle := s.region.Min.Add(s.region.Max).Div(2)
	if off := middle.Sub(image.Pt(180, 90)); math.Hypot(float64(off.X), float64(off.Y)) > 4 {
		t.Errorf("found the region around %v, expected about (180, 90)", middle) // the tolerance 4 allows for a mean of 8 positions on the circle
	}
}

func TestGuards(t *testing.T) {
	empty := func(t *testing.T) *frame.Frame {
		f := frame.New(8, start, frame.Meta{File: "a.tif"}, gocv.NewMat())
		t.Cleanup(func() { f.Close() })
		return f
	}
	of := func(rows, cols int, mt gocv.MatType) func(t *testing.T) *frame.Frame {
		return func(t *testing.T) *frame.Frame { return picture(t, 8, rows, cols, mt, 0.5) }
	}
	volume := func(t *testing.T) *frame.Frame {
		f := frame.New(8, start, frame.Meta{}, gocv.NewMatWithSizes([]int{2, 3, 4}, gocv.MatTypeCV8UC1))
		t.Cleanup(func() { f.Close() })
		return f
	}
	for _, c := range []struct {
		kind, options string
		frame         func(t *testing.T) *frame.Frame
		want          string
	}{
		{"clahe", "", empty, "step clahe: frame 8 of a.tif: the picture is empty"},
		{"resize", "{width: 1, height: 1}", volume, "expected 1 to 16384 per side"},
		{"clahe", "", of(9, 9, gocv.MatTypeCV16UC1), "step clahe: frame 8: found uint16 pixels, expected uint8, float32: put normalise before it"},
		{"clahe", "", of(9, 9, gocv.MatTypeCV8UC3), "normalise with grey: true before it"},
		{"clahe", "", of(7, 9, gocv.MatTypeCV8UC1), "found 9x7 pixels, too few for 8x8 tiles: lower tiles"},
		{"normalise", "", of(2, 2, gocv.MatTypeCV64FC1), "found float64 pixels, expected uint8, uint16, float32: convert at the source"},
		{"normalise", "", of(2, 2, gocv.MatTypeCV8UC4), "found 4 channels, expected 1 (grey) or 3 (colour)"},
		{"roi", "{x: 5, y: 0, width: 5, height: 5}", of(9, 9, gocv.MatTypeCV8UC1), "the region x 5 to 10, y 0 to 5 does not lie inside the frame of 9x9 pixels, at least 10x5 expected: train a model on frames of this size"},
		{"roi", "search: {size: 10}", of(9, 12, gocv.MatTypeCV8UC1), "a region of 10x10 pixels does not fit into the frame of 12x9 pixels"},
	} {
		err := newStep(t, c.kind, c.options).Apply(context.Background(), c.frame(t))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s {%s}: found %v, expected %q in it", c.kind, c.options, err, c.want)
		}
		var skip *pipeline.ErrSkip
		if wantSkip := strings.Contains(c.want, "empty"); errors.As(err, &skip) != wantSkip {
			t.Errorf("%s: found %v, expected a skip: %t", c.kind, err, wantSkip)
		}
	}
	bright := picture(t, 8, 9, 9, gocv.MatTypeCV32FC1, 700)
	err := newStep(t, "clahe", "").Apply(context.Background(), bright)
	if err == nil || !strings.Contains(err.Error(), "found values from 700 to 700, expected 0 to 1") {
		t.Errorf("found %v, expected the range to be refused", err)
	}
}

// FuzzSteps searches for a picture that passes the checks and makes OpenCV throw, which would end the process.
func FuzzSteps(f *testing.F) {
	f.Add(uint8(0), uint8(8), uint8(8), []byte{1, 2, 3})
	f.Add(uint8(5), uint8(1), uint8(1), []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(uint8(16+2), uint8(9), uint8(31), []byte{})
	f.Add(uint8(24+6), uint8(0), uint8(7), []byte{7})
	f.Fuzz(func(t *testing.T, mt, rows, cols uint8, data []byte) {
		for _, s := range []pipeline.Step{
			newStep(t, "normalise", ""), newStep(t, "normalise", "{window: [1, 2], to: uint8, grey: true}"),
			newStep(t, "clahe", ""), newStep(t, "roi", "{x: 1, y: 2, width: 3, height: 4}"), newStep(t, "roi", "search: {size: 3, frames: 2}"),
			newStep(t, "resize", "{width: 5, height: 4}"), newStep(t, "resize", "{width: 40, height: 1}"),
			newStep(t, "defects", "{width: 9, height: 8, pixels: [AAAAAAcAAABHAAAA]}"), // its corners 0, 7 and 71
			newStep(t, "normalise", "film: true"), newStep(t, "roi", "search: {size: 3, film: true}"),
		} {
			m := gocv.NewMatWithSize(int(rows%40), int(cols%40), gocv.MatType(mt)%40)
			if p, err := m.DataPtrFloat32(); err == nil && len(data) > 0 {
				for i := range p {
					p[i] = math.Float32frombits(uint32(data[i%len(data)]) * 0x01010101)
				}
			}
			fr := frame.New(0, start, frame.Meta{}, m)
			if look := s.Can().Look; look != nil {
				_ = look(fr)
			}
			_ = s.Apply(context.Background(), fr) // an error is allowed, an abort is not
			fr.Close()
		}
	})
}

func BenchmarkSteps(b *testing.B) {
	spread := make([]int, 512) // two pixels in a thousand
	for i := range spread {
		spread[i] = 511 * i
	}
	for _, c := range []struct {
		name, kind, options string
		mt                  gocv.MatType
		scale               float32
	}{
		{"512 defects", "defects", defectsYAML(b, DefectsOptions(512, 512, spread)), gocv.MatTypeCV16UC1, 200},
		{"normalise running 16 bits", "normalise", "", gocv.MatTypeCV16UC1, 200},
		{"normalise fixed 16 bits", "normalise", "window: [0, 60000]", gocv.MatTypeCV16UC1, 200},
		{"clahe float32", "clahe", "", gocv.MatTypeCV32FC1, 1. / 255},
		{"clahe uint8", "clahe", "", gocv.MatTypeCV8UC1, 1},
		{"roi 256", "roi", "{centre: [256, 256], size: 256}", gocv.MatTypeCV32FC1, 1. / 255},
		{"resize 64", "resize", "{width: 64, height: 64}", gocv.MatTypeCV32FC1, 1. / 255},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newStep(b, c.kind, c.options)
			v := ramp(512, 512)
			for i := range v {
				v[i] = min(v[i], 255) * c.scale
			}
			original := picture(b, 0, 512, 512, c.mt, v...)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				f := frame.New(0, start, frame.Meta{}, original.Mat().Clone())
				b.StartTimer()
				if err := s.Apply(context.Background(), f); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}
