package recording

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/suite"
)

// wandering surveys 200 frames of 16 bits, 300×200: a bright spot of 6 px that moves by 10 px about (cx, cy), on a noisy offset,
// with one hot pixel.
func wandering(t *testing.T, cx, cy float64) *Survey {
	t.Helper()
	const width, height = 300, 200
	rng := rand.New(rand.NewPCG(4, 0))
	s := &Survey{low: math.Inf(1), high: math.Inf(-1)}
	for k := range 200 {
		m := gocv.NewMatWithSize(height, width, gocv.MatTypeCV16UC1)
		data, err := m.DataPtrUint16()
		if err != nil {
			t.Fatal(err)
		}
		x, y := cx+10*rng.NormFloat64(), cy+10*rng.NormFloat64()
		for p := range data {
			dx, dy := float64(p%width)-x, float64(p/width)-y
			data[p] = uint16(500 + 10*rng.NormFloat64() + 2000*math.Exp(-(dx*dx+dy*dy)/72))
		}
		data[0] = 60000
		f := frame.New(uint64(k), time.Unix(0, 0), frame.Meta{}, m)
		if err := s.add(f, new(GreyFrame)); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return s
}

func TestSurveyFindsWhatMoves(t *testing.T) {
	suite.Long(t)
	for _, at := range [][2]float64{{150, 100}, {60, 70}, {240, 140}} {
		s := wandering(t, at[0], at[1])
		r, ok := s.Moving()
		if !ok {
			t.Fatalf("at %v: the whole frame was taken", at)
		}
		// ±3 sd of the motion plus the spot's radius must be inside; twice that would waste the encoder's pixels.
		const reach = 30 + 6
		if float64(r.X) > at[0]-reach+6 || float64(r.X+r.Size) < at[0]+reach-6 || float64(r.Y) > at[1]-reach+6 || float64(r.Y+r.Size) < at[1]+reach-6 || r.Size > 4*reach {
			t.Errorf("at %v: the square is %+v", at, r)
		}
		if low, high, err := s.Window(); err != nil || low < 400 || low > 500 || high < 1500 || high > 3000 {
			t.Errorf("the grey window is %g to %g (%v): the offset is 500, the spot's peak 2500, the hot pixel 60000", low, high, err)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

// filming surveys n float frames of 40×40 with the given channels and values from paint.
func filming(t *testing.T, n, channels int, paint func(k, pixel, channel int) float64) *Survey {
	t.Helper()
	s := &Survey{low: math.Inf(1), high: math.Inf(-1)}
	for k := range n {
		m := gocv.NewMatWithSize(40, 40, gocv.MatTypeCV32FC1+gocv.MatType((channels-1)<<3))
		data, err := m.DataPtrFloat32()
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			data[i] = float32(paint(k, i/channels, i%channels))
		}
		f := frame.New(uint64(k), time.Unix(0, 0), frame.Meta{}, m)
		if err := s.add(f, new(GreyFrame)); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return s
}

// TestSurveyWindow: the window of float pictures is their range without spikes. If noise dominates, it is the range of the mean picture plus
// 4 robust standard deviations: 4.5 for Student's t with 3 degrees of freedom, 8 for normal noise of sd 2. The mean picture has noise itself,
// up to 4 standard deviations of 2/√200.
func TestSurveyWindow(t *testing.T) {
	suite.Long(t)
	rng := rand.New(rand.NewPCG(6, 0))
	disc := func(k, pixel int) float64 { // a disc of radius 6 that moves from left to right
		dx, dy := float64(pixel%40)-10-0.1*float64(k), float64(pixel/40)-20
		return map[bool]float64{true: 1}[dx*dx+dy*dy < 36]
	}
	student := func() float64 {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		return rng.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
	}
	for _, test := range []struct {
		name                 string
		paint                func(k, pixel, channel int) float64
		low, high, tolerance float64
		coloured             bool
	}{
		{"clean", func(k, p, c int) float64 { return 300 + 4000*disc(k, p) }, 300, 4300, 0, false},
		{"clean colour", func(k, p, c int) float64 { return 300 + 4000*disc(k, p)*float64(c) }, 300, 8300, 0, true},
		{"spikes", func(k, p, c int) float64 {
			return 300 + float64(p%40) + 400*disc(k, p) + map[bool]float64{true: 1e6}[k == 7 && p == 90]
		}, 300, 739, 5, false},
		{"normal", func(k, p, c int) float64 { return 2*rng.NormFloat64() + disc(k, p) }, -8, 9, 1.2, false},
		{"student", func(k, p, c int) float64 { return student() + disc(k, p) }, -4.5, 5.5, 1.2, false},
	} {
		for _, channels := range []int{1, 3} {
			s := filming(t, 200, channels, test.paint)
			want := test
			switch {
			case channels == 1 && want.coloured: // the first channel does not show the disc
				continue
			case channels == 3 && test.low < 0: // the mean of three channels has less noise
				want.low, want.high = test.low/math.Sqrt(3), 1+(test.high-1)/math.Sqrt(3)
			}
			low, high, err := s.Window()
			if err != nil || math.Abs(low-want.low) > want.tolerance || math.Abs(high-want.high) > want.tolerance {
				t.Errorf("%s, %d channels: the window is %g to %g (%v), expected %g to %g", test.name, channels, low, high, err, want.low, want.high)
			}
			if s.Coloured() != want.coloured {
				t.Errorf("%s, %d channels: coloured is %v", test.name, channels, s.Coloured())
			}
		}
	}
}

func TestSurveyRefuses(t *testing.T) {
	for _, test := range []struct {
		name, want string
		fill       func(k, p int) uint8
	}{
		{"blank", "every pixel of every frame is 7: the recording is blank", func(k, p int) uint8 { return 7 }},
		{"static", "nothing moves", func(_, p int) uint8 { return uint8(p % 200) }},
		{"saturated", "% of the pixels are at the brightest count 255: the recording is saturated, record with a shorter exposure",
			func(k, p int) uint8 { return uint8(min(200+(p+17*k)%100, 255)) }},
	} {
		s := &Survey{low: math.Inf(1), high: math.Inf(-1)}
		for k := range 20 {
			m := gocv.NewMatWithSize(50, 50, gocv.MatTypeCV8UC1)
			data, err := m.DataPtrUint8()
			if err != nil {
				t.Fatal(err)
			}
			for p := range data {
				data[p] = test.fill(k, p)
			}
			f := frame.New(uint64(k), time.Unix(0, 0), frame.Meta{}, m)
			if err := s.add(f, new(GreyFrame)); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		err := s.Check()
		if err == nil {
			_, _, err = s.Window()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, an error with %q expected", test.name, err, test.want)
		}
	}
}

// TestSurveySeesThroughNoise surveys a disc whose grey level flickers slowly, by a third of each pixel's noise sd, or noise alone.
func TestSurveySeesThroughNoise(t *testing.T) {
	suite.Long(t)
	for _, amplitude := range []float64{0, 1} {
		rng := rand.New(rand.NewPCG(5, 0))
		s := &Survey{low: math.Inf(1), high: math.Inf(-1)}
		grey := 0.0
		for k := range 300 {
			grey = 0.9*grey + 0.44*rng.NormFloat64()
			m := gocv.NewMatWithSize(50, 50, gocv.MatTypeCV32FC1)
			data, err := m.DataPtrFloat32()
			if err != nil {
				t.Fatal(err)
			}
			for p := range data {
				dx, dy := float64(p%50-25), float64(p/50-25)
				data[p] = float32(3 * rng.NormFloat64())
				if dx*dx+dy*dy < 200 {
					data[p] += float32(amplitude * grey)
				}
			}
			f := frame.New(uint64(k), time.Unix(0, 0), frame.Meta{}, m)
			if err := s.add(f, new(GreyFrame)); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if err := s.Check(); (err == nil) != (amplitude > 0) {
			t.Errorf("amplitude %g: %v", amplitude, err)
		}
		if r, ok := s.Moving(); ok {
			t.Errorf("amplitude %g: cropped to %+v, where nothing in the picture says so", amplitude, r)
		}
	}
}
