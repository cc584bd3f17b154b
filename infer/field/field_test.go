//go:build cgo

package field

import (
	"bytes"
	"errors"
	"image/jpeg"
	"math"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/sim/field"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// drawn returns a camera's frame of a field, of type mt. If dark is true, its counts are inverted.
func drawn(t testing.TB, mt gocv.MatType, dark bool) (*frame.Frame, []field.Point) {
	t.Helper()
	const side = 128
	f, err := field.New(field.Options{Scenario: field.Vesicle, Density: 12, SNR: 8, Width: side, Height: side, Frames: 2, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]uint16, side*side)
	f.Draw(0, counts)
	m := gocv.NewMatWithSize(side, side, gocv.MatTypeCV32FC1)
	defer m.Close()
	values, err := m.DataPtrFloat32()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range counts {
		values[i] = min(float32(v), 250)
		if dark {
			values[i] = 255 - values[i]
		}
	}
	out := gocv.NewMat()
	m.ConvertTo(&out, mt&7) // the depth
	if mt == gocv.MatTypeCV8UC3 {
		colour := gocv.NewMat()
		gocv.CvtColor(out, &colour, gocv.ColorGrayToBGR)
		out.Close()
		out = colour
	}
	fr := frame.New(3, time.Unix(9, 0), frame.Meta{}, out)
	t.Cleanup(func() { fr.Close() })
	return fr, f.At(0)
}

// encoder returns an Encoder of at most `most` spots per frame.
func encoder(t testing.TB, most int) *Encoder {
	t.Helper()
	locators, err := NewLocators(most)
	if err != nil {
		t.Fatal(err)
	}
	return NewEncoder(locators, nil)
}

// located passes a frame through the steps and the encoder.
func located(t testing.TB, f *frame.Frame, given frame.Template) *latent.Sight {
	t.Helper()
	if err := NewPicture().Apply(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if err := NewTemplate(given).Apply(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	e := encoder(t, 100)
	z := &latent.Sight{}
	if err := e.Encode(t.Context(), z, f); err != nil {
		t.Fatal(err)
	}
	return z
}

// found returns the number of true positions that have a spot with a score of at least 5 within one pixel.
func found(z *latent.Sight, truth []field.Point) (n int) {
	for _, p := range truth {
		for _, s := range z.Spots.Found {
			if s.Score > 5 && math.Hypot(s.X-p.X, s.Y-p.Y) < 1 {
				n++
				break
			}
		}
	}
	return n
}

// TestSpots: in pictures of every type, with bright or dark objects, all objects that do not touch another are found. The template's width is the width of the
// optics to a tenth.
func TestSpots(t *testing.T) {
	for name, mt := range map[string]gocv.MatType{"8 bits": gocv.MatTypeCV8UC1, "16 bits": gocv.MatTypeCV16UC1, "float": gocv.MatTypeCV32FC1, "colour": gocv.MatTypeCV8UC3} {
		for _, dark := range []bool{false, true} {
			f, truth := drawn(t, mt, dark)
			z := located(t, f, frame.Template{})
			if n := found(z, truth); n < len(truth)-1 {
				t.Errorf("%s, dark %v: %d of %d objects found", name, dark, n, len(truth))
			}
			if s := z.Spots; math.Abs(s.Template-1.43) > 0.15 || s.Width != 128 || s.Height != 128 {
				t.Errorf("%s, dark %v: a template of %.2f px, a frame of %dx%d", name, dark, s.Template, s.Width, s.Height)
			}
		}
	}
}

// TestSource: positions refer to the frame as read, even after a step has cropped and scaled it.
func TestSource(t *testing.T) {
	f, truth := drawn(t, gocv.MatTypeCV16UC1, false)
	f.Cut(100, 50)
	f.Rescale(2, 2)
	z := located(t, f, frame.Template{SD: 1.43})
	for i := range truth {
		truth[i].X, truth[i].Y = 100+2*truth[i].X+0.5, 50+2*truth[i].Y+0.5
	}
	moved := 0
	for _, p := range truth {
		for _, s := range z.Spots.Found {
			if math.Hypot(s.X-p.X, s.Y-p.Y) < 2 {
				moved++
				break
			}
		}
	}
	if moved < len(truth)-1 || math.Abs(z.Spots.Template-2.86) > 1e-9 || z.Spots.Width != 356 || z.Spots.Height != 306 {
		t.Errorf("%d of %d found; template %.2f px, a frame of %dx%d", moved, len(truth), z.Spots.Template, z.Spots.Width, z.Spots.Height)
	}
}

// TestMost: if there are more spots than allowed, the ones with the highest scores are returned, and the others are counted.
func TestMost(t *testing.T) {
	f, _ := drawn(t, gocv.MatTypeCV16UC1, false)
	all := located(t, f, frame.Template{SD: 1.43})
	e := encoder(t, 3)
	z := &latent.Sight{}
	if err := e.Encode(t.Context(), z, f); err != nil || len(z.Spots.Found) != 3 || z.Spots.Left < 5 || z.Spots.Found[0] != all.Spots.Found[0] {
		t.Errorf("%v: %d spots, %d left out", err, len(z.Spots.Found), z.Spots.Left)
	}
	for _, most := range []int{0, -1, 1 << 20} {
		if _, err := NewLocators(most); err == nil {
			t.Errorf("a maximum of %d spots was accepted", most)
		}
	}
}

// TestNothing: a uniform picture has no spots and no template, and the search is repeated after 1, 2 and 4 frames. A picture of the wrong type is refused
// before OpenCV reads it.
func TestNothing(t *testing.T) {
	step, looked := NewTemplate(frame.Template{}), []int{}
	for i := range 12 {
		f := frame.New(uint64(i), time.Unix(0, 0), frame.Meta{}, gocv.NewMatWithSizeFromScalar(gocv.NewScalar(7, 0, 0, 0), 40, 60, gocv.MatTypeCV32FC1))
		before := step.wait
		if err := step.Apply(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if before == 0 {
			looked = append(looked, i)
		}
		e := encoder(t, 5)
		z := &latent.Sight{}
		if err := e.Encode(t.Context(), z, f); err != nil || len(z.Spots.Found) != 0 || z.Spots.Template != 0 || z.Spots.Width != 60 {
			t.Errorf("%v, %+v", err, z.Spots)
		}
		f.Close()
	}
	if want := []int{0, 1, 3, 6, 11}; !equal(looked, want) {
		t.Errorf("searched frames %v, expected %v", looked, want)
	}
	for _, c := range []struct {
		rows, cols int
		mt         gocv.MatType
		want       string
	}{
		{8, 60, gocv.MatTypeCV8UC1, "found 60x8 pixels"},
		{40, 60, gocv.MatTypeCV64FC1, "expected 8 or 16 bits"},
		{40, 60, gocv.MatTypeCV8UC4, "expected 8 or 16 bits"},
	} {
		f := frame.New(1, time.Unix(0, 0), frame.Meta{}, gocv.NewMatWithSize(c.rows, c.cols, c.mt))
		if err := NewPicture().Apply(t.Context(), f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %q", err, c.want)
		}
		f.Close()
	}
	empty := frame.New(1, time.Unix(0, 0), frame.Meta{}, gocv.NewMat())
	defer empty.Close()
	var skip *frame.ErrSkip
	if err := NewPicture().Apply(t.Context(), empty); !errors.As(err, &skip) || skip.Cause != "empty_frame" {
		t.Errorf("an empty frame: %v", err)
	}
	wild := frame.New(1, time.Unix(0, 0), frame.Meta{}, gocv.NewMatWithSizeFromScalar(gocv.NewScalar(math.NaN(), 0, 0, 0), 40, 60, gocv.MatTypeCV32FC1))
	defer wild.Close()
	if err := NewPicture().Apply(t.Context(), wild); !errors.As(err, &skip) || skip.Cause != "not_finite" {
		t.Errorf("a picture without numbers: %v", err)
	}
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestView: View shows the whole frame, a large frame as means of blocks, and the objects are brighter than the rest.
func TestView(t *testing.T) {
	f, truth := drawn(t, gocv.MatTypeCV16UC1, false)
	if err := NewPicture().Apply(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	v, dst := NewViewer(), &latent.View{}
	if err := v.View(dst, f, nil); err != nil {
		t.Fatal(err)
	}
	picture, err := jpeg.Decode(bytes.NewReader(dst.Preview))
	if err != nil || picture.Bounds().Dx() != 128 || dst.Seq != 3 {
		t.Fatalf("%v, %v", err, picture)
	}
	bright := 0
	for _, p := range truth {
		if r, _, _, _ := picture.At(int(p.X+0.5), int(p.Y+0.5)).RGBA(); r > 0x8000 {
			bright++
		}
	}
	if bright < len(truth)*3/4 {
		t.Errorf("%d of %d objects are bright", bright, len(truth))
	}
	large := frame.New(1, time.Unix(0, 0), frame.Meta{}, gocv.NewMatWithSize(900, 2000, gocv.MatTypeCV32FC1))
	defer large.Close()
	if err := v.View(dst, large, nil); err != nil {
		t.Fatal(err)
	}
	if picture, err = jpeg.Decode(bytes.NewReader(dst.Preview)); err != nil || picture.Bounds().Dx() != 666 || picture.Bounds().Dy() != 300 {
		t.Errorf("%v, %v", err, picture.Bounds())
	}
}
