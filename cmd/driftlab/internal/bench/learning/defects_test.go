package learning

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/sim"
	"driftscope/ingest/sim/field"
)

// still is a film that shows one picture again and again, given in grey levels.
type still struct {
	format sim.Format
	levels []float64
	left   int
}

func (s *still) Next(dst *sim.Picture) (sim.Truth, error) {
	if s.left == 0 {
		return sim.Truth{}, io.EOF
	}
	s.left--
	dst.Format = s.format
	dst.U16, dst.F32 = nil, nil
	for _, v := range s.levels {
		if s.format.Depth == sim.Counts {
			dst.U16 = append(dst.U16, uint16(v))
		} else {
			dst.F32 = append(dst.F32, float32(v/255))
		}
	}
	return sim.Truth{Z: []float64{float64(s.left)}}, nil
}

// Two pictures: 16 bits of grey, and 8 bits of colour. Values lie about 100 in both.
var (
	grey   = sim.Format{Width: 64, Height: 48, Channels: 1, Depth: sim.Counts}
	colour = sim.Format{Width: 64, Height: 48, Channels: 3, Depth: sim.Unit}
)

// slope is a picture of the format whose levels run from 60 to 140 along every row, alike in all channels, with a median of 100.
func slope(f sim.Format) []float64 {
	v := make([]float64, f.Values())
	for i := range v {
		v[i] = 60 + math.Round(80*float64(i/f.Channels%f.Width)/float64(f.Width-1))
	}
	return v
}

// flat is a picture of one level.
func flat(f sim.Format, level float64) []float64 {
	v := make([]float64, f.Values())
	for i := range v {
		v[i] = level
	}
	return v
}

// film is what a nuisance makes of so many frames of one picture, in grey levels.
func film(t *testing.T, f sim.Format, levels []float64, o defect) [][]float64 {
	t.Helper()
	n, err := spoiled(&still{f, levels, o.Frames}, o)
	if err != nil {
		t.Fatal(err)
	}
	var frames [][]float64
	var p sim.Picture
	for {
		truth, err := n.Next(&p)
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := float64(o.Frames - len(frames) - 1); len(truth.Z) != 1 || truth.Z[0] != want {
			t.Fatalf("frame %d: the truth is %v, expected the clean film's, %g", len(frames), truth.Z, want)
		}
		var v []float64
		for _, count := range p.U16 {
			v = append(v, float64(count))
		}
		for _, unit := range p.F32 {
			v = append(v, math.Round(float64(unit)*255))
		}
		frames = append(frames, v)
	}
}

// common is the kind's common amount, so many times as strong.
func common(t *testing.T, kind string, times float64) float64 {
	t.Helper()
	amount, err := defectAmount(kind, times)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

// Effects without chance, on both pictures: what a level becomes at a place in a frame. A level is cut off, so it is right to 1.
func TestEffects(t *testing.T) {
	const frames = 40
	for _, c := range []struct {
		kind  string
		frame int
		want  func(f sim.Format, v, x, y float64) float64
	}{
		{"step", 20, func(_ sim.Format, v, _, _ float64) float64 { return v }},
		{"step", 21, func(_ sim.Format, v, _, _ float64) float64 { return 1.5 * v }},
		{"bleach", 0, func(_ sim.Format, v, _, _ float64) float64 { return v }},
		{"bleach", 39, func(_ sim.Format, v, _, _ float64) float64 { return 100 + (v-100)*math.Exp(-1.2*39/40) }},
		{"uneven", 0, func(_ sim.Format, v, x, _ float64) float64 { return v + 0.3*80*(0.5+0.5*(x/64-0.5)) }},
		{"uneven", 10, func(_ sim.Format, v, _, y float64) float64 { return v + 0.3*80*(0.5+0.5*(y/48-0.5)) }},
		{"stage", 10, func(_ sim.Format, _, x, _ float64) float64 { return 60 + 80*max(x-6, 0)/63 }},
		{"stage", 30, func(_ sim.Format, _, x, _ float64) float64 { return 60 + 80*min(x+6, 63)/63 }},
		{"lines", 4, func(_ sim.Format, v, _, _ float64) float64 { return v }},
		{"lines", 5, func(_ sim.Format, v, _, y float64) float64 {
			if math.Mod(y, 2) == 0 {
				return 1.1 * v
			}
			return v
		}},
		{"saturate", 3, func(f sim.Format, v, _, _ float64) float64 { return min(v, top(f)/1.5) }},
	} {
		for _, f := range []sim.Format{grey, colour} {
			levels := slope(f)
			got := film(t, f, levels, defect{Kind: c.kind, Amount: common(t, c.kind, 1), Frames: frames})[c.frame]
			for i, v := range got {
				pixel := i / f.Channels
				if want := c.want(f, levels[i], float64(pixel%f.Width), float64(pixel/f.Width)); math.Abs(v-want) > 1+1e-9 {
					t.Fatalf("%s, %d channels, frame %d, value %d: %g, expected %g", c.kind, f.Channels, c.frame, i, v, want)
				}
			}
		}
	}
}

func top(f sim.Format) float64 {
	if f.Depth == sim.Counts {
		return 65535
	}
	return 255
}

// What lies beyond a camera's clip is at the clip, in 8 bits and in 16; half as much twice as strong.
func TestSaturate(t *testing.T) {
	for _, f := range []sim.Format{grey, colour} {
		for _, times := range []float64{1, 2} {
			got := film(t, f, flat(f, top(f)), defect{Kind: "saturate", Amount: common(t, "saturate", times), Frames: 1})[0]
			if want := math.Floor(top(f) / 1.5 / times); slices.Min(got) != want || slices.Max(got) != want {
				t.Errorf("%g times, %d channels: %g to %g, expected %g", times, f.Channels, slices.Min(got), slices.Max(got), want)
			}
		}
	}
}

// The gain of a lamp is normal, one a frame, and its stray light four times as unsteady: v becomes v g + s (1 + 4 (g - 1)).
func TestFlicker(t *testing.T) {
	const frames = 2000
	for _, c := range []struct{ level, stray float64 }{
		{10000, 1000},
		{0, 0.05 * 65535}, // a dark picture has stray light all the same
	} {
		var sum, square float64
		for _, v := range film(t, grey, flat(grey, c.level), defect{Kind: "flicker", Amount: 0.05, Seed: 3, Frames: frames}) {
			if slices.Min(v) != slices.Max(v) {
				t.Fatal("the light of a frame is uneven")
			}
			off := (v[0] - c.level - c.stray) / (c.level + 4*c.stray)
			sum, square = sum+off, square+off*off
		}
		// the mean of n draws of sd s is good to s/√n, the sd to s/√(2n): 4 of these
		mean, sd := sum/frames, math.Sqrt(square/frames)
		if math.Abs(mean) > 4*0.05/math.Sqrt(frames) || math.Abs(sd-0.05) > 4*0.05/math.Sqrt(2*frames) {
			t.Errorf("level %g: gains are 1%+.4f ± %.4f, expected 1 ± 0.05", c.level, mean, sd)
		}
	}
}

// Hot pixels are a thousandth, twice as many twice as strong, and stay where they are.
func TestHot(t *testing.T) {
	f := sim.Format{Width: 500, Height: 400, Channels: 3, Depth: sim.Unit}
	for _, times := range []float64{1, 2} {
		got := film(t, f, flat(f, 20), defect{Kind: "hot", Amount: common(t, "hot", times), Seed: 7, Frames: 3})
		n := 0.
		for i := 0; i < len(got[0]); i += 3 {
			switch pixel := got[0][i : i+3]; {
			case pixel[0] == 255 && pixel[1] == 255 && pixel[2] == 255:
				n++
			case pixel[0] != 20 || pixel[1] != 20 || pixel[2] != 20:
				t.Fatalf("pixel %d is %v, expected 20 or 255 in all channels", i/3, pixel)
			}
		}
		if mean := 200 * times; math.Abs(n-mean) > 4*math.Sqrt(mean) { // a Poisson number
			t.Errorf("%g times: %g of 200000 pixels are hot, expected %g", times, n, mean)
		}
		if !slices.Equal(got[0], got[1]) || !slices.Equal(got[0], got[2]) {
			t.Errorf("%g times: hot pixels come and go", times)
		}
	}
}

// Dust is still but for one speck, which is 10 px to the right after the middle of the film. On a black and white picture of range 10000 a speck is
// 0.5 · 0.3 · 10000 deep.
func TestDust(t *testing.T) {
	const frames, depth = 20, 1500
	f := sim.Format{Width: 200, Height: 100, Channels: 1, Depth: sim.Counts}
	levels := flat(f, 20000)
	levels[0] = 30000
	got := film(t, f, levels, defect{Kind: "dust", Amount: 0.5, Seed: 2, Frames: frames})
	for i := range frames {
		if first := got[i/11*11]; !slices.Equal(got[i], first) { // frames 0 to 10 are alike, and 11 to 19
			t.Errorf("dust moves in frame %d", i)
		}
	}
	deepest := 20000 - slices.Min(got[0])
	if deepest < 0.9*depth || deepest > specks*depth {
		t.Errorf("the deepest speck takes %g away, expected %d and what lies on it", deepest, depth)
	}
	// The change from before to after is one speck gone and one come, 10 px to its right.
	var gone, come, mass, across float64
	for i := range got[0] {
		d := got[frames-1][i] - got[0][i]
		gone, come = gone+max(d, 0), come+max(-d, 0)
		mass, across = mass+math.Abs(d), across-d*float64(i%f.Width)
	}
	// first moments: -Σ d x = gone · 10, where nothing of either lies beyond the edge and they do not overlap
	if math.Abs(gone-come) > 0.02*gone || math.Abs(across/gone-speckMoves) > 0.3 {
		t.Errorf("a speck of %g is gone, one of %g has come, %g px from it; expected as much, %d px away", gone, come, across/gone, speckMoves)
	}
}

// JPEG loses little of a slope and much of noise, the more the lower the quality; 16 bits become 8 and are spread again.
func TestCompress(t *testing.T) {
	for _, f := range []sim.Format{grey, colour} {
		unit := top(f) / 255
		noise := make([]float64, f.Values())
		rng := rand.New(rand.NewPCG(4, 0))
		for i := range noise {
			if i%f.Channels > 0 { // without colours, of which a JPEG keeps a quarter
				noise[i] = noise[i-1]
				continue
			}
			noise[i] = unit * math.Round(128+20*rng.NormFloat64())
		}
		var off [2]float64
		for i, times := range []float64{1, 2} {
			got := film(t, f, noise, defect{Kind: "jpeg", Amount: common(t, "jpeg", times), Frames: 1})[0]
			for k, v := range got {
				off[i] += math.Abs(v-noise[k]) / unit / float64(len(got))
				if math.Mod(v, unit) != 0 {
					t.Fatalf("%d channels: a level of %g, expected whole multiples of %g", f.Channels, v, unit)
				}
			}
		}
		if off[0] < 2 || off[1] < 1.1*off[0] || off[1] > 40 {
			t.Errorf("%d channels: quality 40 is off by %.2g levels and 20 by %.2g, expected some and more", f.Channels, off[0], off[1])
		}
		smooth := slope(f)
		for i := range smooth {
			smooth[i] *= unit
		}
		for i, v := range film(t, f, smooth, defect{Kind: "jpeg", Amount: 40, Frames: 1})[0] {
			if math.Abs(v-smooth[i]) > 10*unit { // a coefficient is rounded to 20 or so
				t.Fatalf("%d channels: level %g becomes %g", f.Channels, smooth[i], v)
			}
		}
	}
}

// The same seed gives the same film, another another where anything is drawn.
func TestSeed(t *testing.T) {
	for _, kind := range defectNames() {
		o := defect{Kind: kind, Amount: common(t, kind, 1), Seed: 1, Frames: 5}
		levels := slope(colour)
		levels[0] = 255
		one, two := film(t, colour, levels, o), film(t, colour, levels, o)
		o.Seed = 2
		other := film(t, colour, levels, o)
		drawn := false
		for i := range one {
			if !slices.Equal(one[i], two[i]) {
				t.Errorf("%s: frame %d differs between two runs", kind, i)
			}
			drawn = drawn || !slices.Equal(one[i], other[i])
		}
		if want := slices.Contains([]string{"flicker", "dust", "hot"}, kind); drawn != want {
			t.Errorf("%s: another seed gives another film: %t, expected %t", kind, drawn, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 0, 4}, 4},
		{[]float64{255, 0, 3, 8}, 5.5},
		{[]float64{2, 2, 2, 255}, 2},
	} {
		p := levels{top: 255, values: c.values}
		if got := p.median(); got != c.want {
			t.Errorf("median of %v is %g, expected %g", c.values, got, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		o    defect
		want string
	}{
		{defect{Kind: "rain", Amount: 1, Frames: 1}, "give one of flicker, step"},
		{defect{Kind: "hot", Frames: 1}, "give a positive number"},
		{defect{Kind: "hot", Amount: math.Inf(1), Frames: 1}, "give a positive number"},
		{defect{Kind: "jpeg", Amount: 0.4, Frames: 1}, "give 1 to 100"},
		{defect{Kind: "hot", Amount: 1}, "1 or more"},
	} {
		if _, err := spoiled(&still{}, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected an error with %q", c.o, err, c.want)
		}
	}
	if _, err := defectAmount("rain", 1); err == nil {
		t.Error("the amount of rain is known")
	}
	many, err := field.New(field.Options{Scenario: field.Directed, Density: 3, SNR: 4, Width: 64, Height: 64, Frames: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spoiled(many.Film(), defect{Kind: "lines", Amount: 1, Frames: 2}); err == nil || !strings.Contains(err.Error(), "a single scene") {
		t.Errorf("a field: %v", err)
	}
	scene, err := sim.New("balls-ou-normal", sim.Options{Frames: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := spoiled(scene, defect{Kind: "lines", Amount: 1, Frames: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Next(new(sim.Picture)); err == nil || !strings.Contains(err.Error(), "without noise") {
		t.Errorf("a film of real values: %v", err)
	}
}

// After the first frames no memory is taken, but for a picture file that is written and read.
func TestAllocations(t *testing.T) {
	for _, kind := range defectNames() {
		if kind == compression {
			continue
		}
		o := defect{Kind: kind, Amount: common(t, kind, 1), Frames: 4}
		n, err := spoiled(&still{}, o)
		if err != nil {
			t.Fatal(err)
		}
		src := sim.Picture{Format: grey, U16: make([]uint16, grey.Values())}
		frame := 0
		next := func() {
			if err := n.grey.read(&src); err != nil {
				t.Fatal(err)
			}
			if err := n.effect(&n.grey, frame); err != nil {
				t.Fatal(err)
			}
			frame++
		}
		for range 4 {
			next()
		}
		if got := testing.AllocsPerRun(5, next); got != 0 {
			t.Errorf("%s: %g allocations a frame", kind, got)
		}
	}
}
