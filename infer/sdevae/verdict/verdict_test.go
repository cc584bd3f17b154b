package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"driftscope/infer/sdevae/video"
)

const side = 12

// spot adds a soft spot at (x, y) px from the centre of a picture, times light.
func spot(dst []float32, x, y, light float64) {
	for p := range dst {
		dx, dy := float64(p%side)-(side-1)/2.-x, float64(p/side)-(side-1)/2.-y
		dst[p] = float32(light * 0.6 * math.Exp(-(dx*dx+dy*dy)/8))
	}
}

// bead returns the case of a spot that moves in a trap with little noise, and a correct model: its latents are the position, rotated by 30 degrees, in units of
// a step.
func bead(frames int) *Case {
	rng := rand.New(rand.NewPCG(4, 0))
	clip := &video.Clip{Channels: 1, Height: side, Width: side, Pixels: make([]float32, frames*side*side), Times: make([]float64, frames), Trajectory: make([]uint64, frames)}
	c := &Case{Clip: clip, Dim: 2}
	clean := make([]float32, len(clip.Pixels))
	x, y := 0.0, 0.0
	for k := range frames {
		clip.Times[k] = 0.1 * float64(k)
		spot(clean[k*side*side:][:side*side], x, y, 1)
		for i := range clip.Frame(k) {
			clip.Pixels[k*side*side+i] = clean[k*side*side+i] + 0.05*float32(rng.NormFloat64())
		}
		c.Measured = append(c.Measured, 20+x+0.02*rng.NormFloat64(), 30+y+0.02*rng.NormFloat64())
		c.Z = append(c.Z, float32(0.87*x-0.5*y), float32(0.5*x+0.87*y))
		c.SD = append(c.SD, 0.05, 0.05)
		x, y = 0.9*x+0.5*rng.NormFloat64(), 0.9*y+0.5*rng.NormFloat64()
	}
	_, c.Held = video.Split(clip.Pairs(clip.MaxGap()))
	for _, f := range video.FramesOf(c.Held) {
		c.Drawn = append(c.Drawn, clean[f*side*side:][:side*side]...)
	}
	return c
}

// lamp returns a latent that moves independently of the spot.
func lamp(n int) []float32 {
	rng, out, v := rand.New(rand.NewPCG(9, 0)), make([]float32, n), 0.0
	for k := range out {
		v = 0.9*v + 0.5*rng.NormFloat64()
		out[k] = float32(v)
	}
	return out
}

// dull reduces the deviations of the reconstructions from their mean to a share.
func dull(c *Case, share float32) {
	size := side * side
	mean := make([]float32, size)
	for i, v := range c.Drawn {
		mean[i%size] += v * float32(size) / float32(len(c.Drawn))
	}
	for i, v := range c.Drawn {
		c.Drawn[i] = mean[i%size] + share*(v-mean[i%size])
	}
}

// set sets latent i to value(frame).
func (c *Case) set(i int, value func(k int) float32) {
	for k := range c.Clip.Len() {
		c.Z[k*c.Dim+i] = value(k)
	}
}

// TestJudge: a correct model is good, and each kind of error is reported by exactly one finding.
func TestJudge(t *testing.T) {
	for _, k := range []struct {
		name    string
		spoil   func(c *Case)
		level   Level
		nothing bool
		want    string // in the reasons
	}{
		{"right", func(*Case) {}, Good, false, "R² = 1.000"},
		{"the mean picture is drawn", func(c *Case) { dull(c, 0) }, Bad, true, "the model tracks nothing"},
		{"half of the amplitude is drawn", func(c *Case) { dull(c, 0.4) }, Doubt, false, "the reconstructions explain only 6"},
		{"white noise", func(c *Case) {
			rng := rand.New(rand.NewPCG(2, 0))
			for i := range c.Clip.Pixels {
				c.Clip.Pixels[i] = 0.5 + 0.1*float32(rng.NormFloat64())
			}
		}, Doubt, false, "too little persistent signal"},
		{"the latents are a lamp's", func(c *Case) {
			light := lamp(2 * c.Clip.Len())
			c.set(0, func(k int) float32 { return light[k] })
			c.set(1, func(k int) float32 { return light[c.Clip.Len()+k] })
		}, Bad, false, "the latents do not explain the object's"},
		{"half of y is a lamp's", func(c *Case) {
			light := lamp(c.Clip.Len())
			c.set(0, func(k int) float32 { return float32(c.Measured[2*k]) })
			c.set(1, func(k int) float32 { return float32(c.Measured[2*k+1]) + 0.6*light[k] })
		}, Doubt, false, "the object's y only in part"},
		{"a curved map of the place", func(c *Case) {
			c.set(1, func(k int) float32 { return float32(c.Measured[2*k+1]) + 0.1*c.Z[2*k]*c.Z[2*k] })
			c.set(0, func(k int) float32 { return float32(c.Measured[2*k]) })
			c.Places = 2
		}, Good, false, "the latents explain the object's position"},
		{"nothing is measured", func(c *Case) { c.Measured = nil }, Good, false, "no independent measurement exists"},
		{"the measurement jumps", func(c *Case) {
			rng := rand.New(rand.NewPCG(3, 0))
			for i := range c.Measured {
				c.Measured[i] += 2 * rng.NormFloat64()
			}
		}, Good, false, "no independent measurement exists"},
		{"a latent of noise", func(c *Case) {
			rng := rand.New(rand.NewPCG(3, 0))
			c.Measured = nil
			c.set(1, func(int) float32 { return float32(rng.NormFloat64()) })
		}, Doubt, false, "dominates z2 ("},
		{"a latent that holds nothing", func(c *Case) {
			c.Measured = nil
			c.set(1, func(k int) float32 { return c.Z[2*k+1] / 100 })
		}, Doubt, false, "z2 of the latents does not vary"},
		{"known padding", func(c *Case) {
			c.Measured, c.Padding = nil, 1
			c.set(1, func(k int) float32 { return c.Z[2*k+1] / 100 })
		}, Good, false, "every latent exceeds its noise"},
		{"no latent holds anything", func(c *Case) {
			for i := range c.SD {
				c.SD[i] = 10
			}
		}, Bad, false, "all latents vary far less"},
		{"no latent holds anything, and nothing is known of the drawings", func(c *Case) {
			c.Held, c.Drawn, c.Measured = nil, nil, nil
			for i := range c.SD {
				c.SD[i] = 10
			}
		}, Bad, true, "all latents vary far less"},
		{"bent", func(c *Case) {
			c.Measured = nil
			c.set(0, func(k int) float32 { return float32(math.Exp(float64(c.Z[2*k]))) })
		}, Doubt, false, "along z1 their diffusion differs"},
		{"bent, of what objects look like", func(c *Case) {
			c.Look = true
			c.set(0, func(k int) float32 { return float32(math.Exp(float64(c.Z[2*k]))) })
		}, Good, false, "the reconstructions explain"},
	} {
		t.Run(k.name, func(t *testing.T) {
			c := bead(400)
			k.spoil(c)
			v := c.Judge()
			if v.Level != k.level || v.Nothing != k.nothing || !strings.Contains(strings.Join(v.Reasons(), "\n"), k.want) {
				t.Errorf("found %s, nothing %t, expected %s, %q in\n%+v", v.Level, v.Nothing, k.level, k.want, v.Findings)
			}
			for _, f := range v.Findings {
				if (f.Level == Good) != (f.Try == "") {
					t.Errorf("%s: %q says what to try: %q", f.Level, f.Reason, f.Try)
				}
			}
			if k.level == Good {
				return
			}
			for _, f := range v.Findings[1:] {
				if f.Level != Good && !k.nothing {
					t.Errorf("beside it, %s: %s", f.Level, f.Reason)
				}
			}
		})
	}
}

// TestFewFrames: for a clip with at most one held-out block, no test excludes anything, and nothing fails.
func TestFewFrames(t *testing.T) {
	for _, frames := range []int{11, 13, 20, 45} {
		if v := bead(frames).Judge(); v.Level == Bad {
			t.Errorf("%d frames: %+v", frames, v.Findings)
		}
	}
}

// TestShareOf: the upper limit of a ratio is too low in a twentieth of all series, for 4 and for 16 blocks with correlated numbers. 2000 series determine a
// twentieth to ±0.005; the limit of a tenth allows for the skewness of ratios.
func TestShareOf(t *testing.T) {
	const series = 2000
	for _, blocks := range []int{4, 16} {
		rng := rand.New(rand.NewPCG(1, uint64(blocks)))
		wrong := 0
		for range series {
			var num, den []float64
			var block []int
			for b := range blocks {
				common := 0.2 * rng.NormFloat64()
				for range 5 {
					d := 1 + 0.2*rng.NormFloat64()
					num, den, block = append(num, 0.3*d+common), append(den, d), append(block, b)
				}
			}
			if shareOf(num, den, block).High < 0.3 {
				wrong++
			}
		}
		if rate := float64(wrong) / series; rate < 0.03 || rate > 0.1 {
			t.Errorf("%d blocks: the limit is wrong in %.3f of all series", blocks, rate)
		}
	}
}

// TestUnequal: for uniform steps, normal or with Student's heavy tails, chance is excluded about as often as stated (0.01), and they are hardly ever called
// bent. (A few steps do not determine the kurtosis of heavy tails.) Steps that are twice as long in one region are called bent. 500 draws determine 0.01 to
// ±0.004.
func TestUnequal(t *testing.T) {
	for _, k := range []struct {
		name    string
		n       int
		tails   bool
		stretch float64 // factor on the last region's steps

		unlikely, least, most float64 // largest share of draws in which chance is excluded; bounds on the share of draws called bent
	}{
		{"few, normal", 79, false, 1, 0.03, 0, 0.02},
		{"many, normal", 500, false, 1, 0.03, 0, 0.01},
		{"few, heavy tails", 79, true, 1, 0.1, 0, 0.05},
		{"many, heavy tails", 500, true, 1, 0.03, 0, 0.02},
		{"few, longer in a region", 79, false, 2, 1, 0.95, 1},
	} {
		rng := rand.New(rand.NewPCG(5, 0))
		unlikely, told := 0, 0
		for range 500 {
			steps := make([][]float64, k.n)
			for i := range steps {
				scale := 1.0
				if 3*i >= 2*k.n {
					scale = k.stretch
				}
				if k.tails { // Student's t, 5 degrees of freedom
					chi := 0.0
					for range 5 {
						chi += square(rng.NormFloat64()) / 5
					}
					scale /= math.Sqrt(chi)
				}
				steps[i] = []float64{scale * rng.NormFloat64(), scale * rng.NormFloat64(), scale * rng.NormFloat64()}
			}
			ratio, df, factor := unequal(steps, 3)
			if chiSquared(df, ratio) < bentAlarm {
				unlikely++
				if factor > bentFactor {
					told++
				}
			}
		}
		if u, b := float64(unlikely)/500, float64(told)/500; u > k.unlikely || b < k.least || b > k.most {
			t.Errorf("%s: excluded in %.3f of all draws, called bent in %.3f, expected at most %g, and %g to %g", k.name, u, b, k.unlikely, k.least, k.most)
		}
	}
}
