package locate

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/infer/locate/kernel"
)

// textured returns a picture with three parts: white noise smoothed by sd px and scaled to an sd of depth, white noise of sd 1, and spots with a template of sd
// s.
func textured(rng *rand.Rand, side int, sd, depth, s float64, spots [][3]float64) []float32 {
	white := kernel.NewPicture(side, side)
	for i := range white.Pixels {
		white.Pixels[i] = float32(rng.NormFloat64())
	}
	t := newTemplate(sd)
	smooth := kernel.NewFilter(white, t.taps)
	kernel.Widest().Sweep(smooth, []kernel.Area{{X1: side, Y1: side}}, 0)
	scale := depth / math.Sqrt(t.norm)
	picture := make([]float32, side*side)
	for i := range picture {
		v := 100 + scale*float64(smooth.Out.Pixels[i]) + rng.NormFloat64()
		for _, p := range spots {
			dx, dy := float64(i%side)-p[0], float64(i/side)-p[1]
			v += p[2] * math.Exp(-(dx*dx+dy*dy)/(2*s*s))
		}
		picture[i] = float32(v)
	}
	return picture
}

// TestTexture: a smooth texture of three times the camera's noise counts as noise. It gives hardly any spots, instead of hundreds relative to the camera's
// noise alone, and spots stronger than the texture are found. Without a texture the scatter is exactly 1, also if spots cover a tenth of the picture.
func TestTexture(t *testing.T) {
	const side, s = 256, 1.5
	rng := rand.New(rand.NewPCG(1, 2))
	var few, many [][3]float64
	for i := range 16 {
		few = append(few, [3]float64{20 + 14.5*float64(i), 20 + float64(97*i%216), 80})
	}
	for range 200 {
		many = append(many, [3]float64{256 * rng.Float64(), 256 * rng.Float64(), 20})
	}
	for _, c := range []struct {
		name   string
		depth  float64
		spots  [][3]float64
		noise  bool // the scatter is 1
		strong int  // expected spots with a score of at least 5
		over   int  // tolerance: more spots than strong
	}{
		{"noise", 0, nil, true, 0, 0},
		{"texture", 3, nil, false, 0, 2},
		{"spots in a texture", 3, few, false, 16, 2},
		{"many spots", 0, many, true, 150, 50},
	} {
		l, err := New(side, side, Options{SD: s})
		if err != nil {
			t.Fatal(err)
		}
		found := l.Locate(nil, textured(rng, side, 2, c.depth, s, c.spots))
		strong := 0
		for _, f := range found {
			if f.Score > 5 {
				strong++
			}
		}
		if (l.texture == 1) != c.noise || l.texture > 20 {
			t.Errorf("%s: scatter %.2f", c.name, l.texture)
		}
		if strong < c.strong || strong > c.strong+c.over {
			t.Errorf("%s: %d spots score 5, expected %d to %d; scatter %.2f", c.name, strong, c.strong, c.strong+c.over, l.texture)
		}
	}
}

// TestFewLevels: a picture of two levels, most of it at one level, has at least the noise of rounding, and no spots.
func TestFewLevels(t *testing.T) {
	const side = 128
	rng := rand.New(rand.NewPCG(3, 4))
	picture := make([]float32, side*side)
	for i := range picture {
		if rng.Float64() < 0.02 {
			picture[i] = 1
		}
	}
	l, err := New(side, side, Options{SD: 2})
	if err != nil {
		t.Fatal(err)
	}
	found := l.Locate(nil, picture)
	if l.camera.At(0) < 1.0/12 {
		t.Errorf("noise %+v", l.camera)
	}
	for _, s := range found {
		if s.Score > 6 {
			t.Errorf("a spot in a random picture: %+v", s)
		}
	}
}
