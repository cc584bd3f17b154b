//go:build cgo

package frame

import (
	"math"
	"testing"
	"time"

	"gocv.io/x/gocv"
)

// picture returns a disc of the given brightness above an offset. It covers a twentieth of 128×128 pixels.
func picture(t testing.TB, kind gocv.MatType, offset, brightness float64) *Frame {
	t.Helper()
	m := gocv.NewMatWithSize(128, 128, kind)
	for y := range 128 {
		for x := range 128 * m.Channels() {
			v := offset
			if dx, dy := float64(x/m.Channels()-60), float64(y-50); dx*dx+dy*dy < 260 {
				v += brightness
			}
			switch kind & 7 {
			case gocv.MatTypeCV8U:
				m.SetUCharAt(y, x, uint8(v))
			case gocv.MatTypeCV16U:
				p, err := m.DataPtrUint16()
				if err != nil {
					t.Fatal(err)
				}
				p[y*128*m.Channels()+x] = uint16(v)
			case gocv.MatTypeCV32F:
				m.SetFloatAt(y, x, float32(v))
			}
		}
	}
	f := New(0, time.Time{}, Meta{}, m)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLight(t *testing.T) {
	for name, c := range map[string]struct {
		kind               gocv.MatType
		offset, brightness float64
	}{
		"8 bits":       {gocv.MatTypeCV8U, 20, 200},
		"faded":        {gocv.MatTypeCV8U, 20, 60},
		"colour":       {gocv.MatTypeCV8UC3, 20, 100},
		"16 bits":      {gocv.MatTypeCV16U, 1000, 40000},
		"float":        {gocv.MatTypeCV32F, -0.5, 0.25},
		"blank":        {gocv.MatTypeCV8U, 20, 0},
		"unusual":      {gocv.MatTypeCV64F, 0, 0},
		"not a number": {gocv.MatTypeCV32F, math.NaN(), 0},
	} {
		if got := picture(t, c.kind, c.offset, c.brightness).Light(); math.Abs(got-c.brightness) > 1e-6*c.brightness {
			t.Errorf("%s: light %g, want %g", name, got, c.brightness)
		}
	}
	part := gocv.NewMatWithSize(8, 8, gocv.MatTypeCV32F)
	part.SetFloatAt(3, 3, float32(math.Inf(1)))
	for name, f := range map[string]*Frame{
		"empty": New(0, time.Time{}, Meta{}, gocv.NewMat()), "infinite": New(0, time.Time{}, Meta{}, part),
	} {
		if got := f.Light(); got != 0 {
			t.Errorf("%s: light %g", name, got)
		}
		f.Close()
		if got := f.Light(); got != 0 {
			t.Errorf("%s, closed: light %g", name, got)
		}
	}
}

func BenchmarkLight(b *testing.B) {
	f := picture(b, gocv.MatTypeCV16U, 1000, 40000)
	for b.Loop() {
		f.Light()
	}
}
