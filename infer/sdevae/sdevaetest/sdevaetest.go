// Package sdevaetest has clips with a known answer for the tests of several packages: objects that walk about, under noise, over
// backgrounds, cut into films; and measures of a correct answer.
package sdevaetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Shape is what a test draws: an object's light at (dx, dy) from its middle.
type Shape func(dx, dy float64) float64

// Bar returns a short bar.
func Bar(dx, dy float64) float64 { return 0.4 * math.Exp(-dx*dx/2-dy*dy/18) }

// Disc returns a disc with a soft edge.
func Disc(dx, dy float64) float64 { return 0.4 / (1 + math.Exp(2*(math.Hypot(dx, dy)-3))) }

// Ring returns a ring.
func Ring(dx, dy float64) float64 {
	r := math.Hypot(dx, dy) - 3.5
	return 0.5 * math.Exp(-r*r)
}

// Drifting is n frames of 24×24 in which objects walk about, apart from each other in time and place, over a slope of grey under a little
// noise, with where they are: n × 2 an object.
func Drifting(n int, seed uint64, objects ...Shape) (c *video.Clip, truth *mat.Dense) {
	const side = 24
	rng := rand.New(rand.NewPCG(seed, 0))
	c, truth = &video.Clip{Channels: 1, Height: side, Width: side}, mat.NewDense(n, 2*len(objects), nil)
	at := make([]float64, 2*len(objects))
	for i := range at {
		at[i] = 7 + 10*rng.Float64()
	}
	for k := range n {
		for p := range side * side {
			v := 0.1 + 0.2*float64(p/side)/side + 0.01*rng.NormFloat64()
			for i, object := range objects {
				v += object(float64(p%side)-at[2*i], float64(p/side)-at[2*i+1])
			}
			c.Pixels = append(c.Pixels, float32(min(max(v, 0), 1)))
		}
		c.Times, c.Trajectory = append(c.Times, 0.1*float64(k)), append(c.Trajectory, 0)
		truth.SetRow(k, at)
		for i := range at {
			at[i] = min(max(at[i]+rng.NormFloat64(), 5), 19)
		}
	}
	return c, truth
}

// AffineError is, for each coordinate of the truth, the root mean square by which an affine function of z misses it.
func AffineError(t *testing.T, z []float64, truth *mat.Dense) (rms []float64) {
	t.Helper()
	n, d := truth.Dims()
	x := mat.NewDense(n, d+1, nil)
	for k := range n {
		copy(x.RawRowView(k), z[k*d:(k+1)*d])
		x.Set(k, d, 1)
	}
	var b, fit mat.Dense
	if err := b.Solve(x, truth); err != nil {
		t.Fatal(err)
	}
	fit.Mul(x, &b)
	fit.Sub(&fit, truth)
	for i := range d {
		rms = append(rms, mat.Norm(fit.ColView(i), 2)/math.Sqrt(float64(n)))
	}
	return rms
}

// AroundMeans is n frames of 24×24 with objects of one shape, each kept near a place of its own (x, y after each other), so near to the others'
// that they meet, with where they are: frames × 2 an object. Where they lie over each other the picture is as bright as can be.
func AroundMeans(n int, seed uint64, object Shape, means ...float64) (clip *video.Clip, truth []float64) {
	const pull, step = 0.1, 0.8
	clip, _ = Drifting(n, seed, func(_, _ float64) float64 { return 0 }) // the ground alone
	rng := rand.New(rand.NewPCG(seed, 1))
	at := slices.Clone(means)
	for k := range n {
		picture := clip.Frame(k)
		for p := range picture {
			for i := 0; i < len(at); i += 2 {
				picture[p] += float32(object(float64(p%clip.Width)-at[i], float64(p/clip.Width)-at[i+1]))
			}
			picture[p] = min(picture[p], 1)
		}
		truth = append(truth, at...)
		for i := range at {
			at[i] += pull*(means[i]-at[i]) + step*rng.NormFloat64()
		}
	}
	return clip, truth
}

// Bright returns a disc that is as bright as can be.
func Bright(dx, dy float64) float64 { return 2 * Disc(dx, dy) }

// Nearest is which of the objects is nearest to a place, and how far it is.
func Nearest(place [2]float64, objects []float64) (which int, least float64) {
	least = math.Inf(1)
	for i := 0; i < len(objects); i += 2 {
		if r := math.Hypot(place[0]-objects[i], place[1]-objects[i+1]); r < least {
			which, least = i/2, r
		}
	}
	return which, least
}

// CheckIdentities wants each column to be another object, in such a share of the frames.
func CheckIdentities(t *testing.T, whose []map[int]int, share float64) {
	t.Helper()
	taken := map[int]bool{}
	for k, of := range whose {
		most, object, all := 0, 0, 0
		for i, n := range of {
			all += n
			if n > most {
				most, object = n, i
			}
		}
		if float64(most) < share*float64(all) || taken[object] {
			t.Errorf("column %d is objects %v, expected one, and no other column's", k, of)
		}
		taken[object] = true
	}
}

// Crossing is n frames of 24×24 in which an object hides that much of a grating whose light comes and goes, with where it is and what is
// behind it: n × 2, n pictures, n lights.
func Crossing(n int, seed uint64, object Shape, hides float64) (c *video.Clip, places []float64, backgrounds []float32, lights []float64) {
	const side = 24
	rng := rand.New(rand.NewPCG(seed, 0))
	c = &video.Clip{Channels: 1, Height: side, Width: side}
	x, y, light := 12.0, 12.0, 0.0
	for k := range n {
		for p := range side * side {
			i, j := float64(p%side), float64(p/side)
			behind := 0.2 + 0.15*math.Tanh(light)*math.Sin(i/2)*math.Cos(j/3)
			v := 2.5 * object(i-x, j-y)
			c.Pixels = append(c.Pixels, float32(min(max(behind*(1-hides*v)+0.6*v+0.01*rng.NormFloat64(), 0), 1)))
			backgrounds = append(backgrounds, float32(behind))
		}
		c.Times, c.Trajectory = append(c.Times, 0.1*float64(k)), append(c.Trajectory, 0)
		places, lights = append(places, x, y), append(lights, light)
		x, y = min(max(x+rng.NormFloat64(), 6), 18), min(max(y+rng.NormFloat64(), 6), 18)
		light = 0.95*light + 0.3*rng.NormFloat64()
	}
	return c, places, backgrounds, lights
}

// AddNoise covers a clip with white noise of that variance, Student's t with 3 degrees of freedom or normal, cut at 4 standard deviations
// of its middle as pretrain's grey window cuts it, and scales what is then seen to [0,1].
func AddNoise(c *video.Clip, variance float64, student bool) {
	rng := rand.New(rand.NewPCG(6, 0))
	middle := math.Sqrt(variance)
	if student {
		middle /= math.Sqrt(3) / 1.134 // t's median absolute deviation equals the one of a normal of sd 1.134
	}
	reach := 4 * middle
	for i, v := range c.Pixels {
		e := math.Sqrt(variance) * rng.NormFloat64()
		if student {
			a, b, d := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			e /= math.Sqrt(a*a + b*b + d*d) // over its sd √3, times √3 of the chi
		}
		c.Pixels[i] = float32(min(max((float64(v)+e+reach)/(1+2*reach), 0), 1))
	}
}

// WalkingSquare is n frames of 32×32 with an 8×8 square on an Ornstein-Uhlenbeck walk, and its centre.
func WalkingSquare(n int) (c *video.Clip, x, y []float64) {
	rng := rand.New(rand.NewPCG(2, 2))
	c = &video.Clip{Channels: 1, Height: 32, Width: 32}
	u, v := 0.0, 0.0
	for i := range n {
		u, v = 0.95*u+rng.NormFloat64(), 0.95*v+rng.NormFloat64()
		flicker := 0.2 * rng.Float64()
		for p := range c.Size() {
			inX, inY := 4-math.Abs(float64(p%32)-15.5-2*u), 4-math.Abs(float64(p/32)-15.5-2*v)
			cover := min(max(inX, 0), 1) * min(max(inY, 0), 1)
			c.Pixels = append(c.Pixels, float32(min(flicker+0.6*cover+0.1*rng.Float64(), 1)))
		}
		c.Times, c.Trajectory = append(c.Times, float64(i)), append(c.Trajectory, 0)
		x, y = append(x, u), append(y, v)
	}
	return c, x, y
}

// R2 returns the share of truth's variance that a linear map of the latents (n × d) explains.
func R2(z []float32, d int, truth []float64) float64 {
	n := len(truth)
	design := mat.NewDense(n, d+1, nil)
	for k := range n {
		design.Set(k, d, 1)
		for i := range d {
			design.Set(k, i, float64(z[k*d+i]))
		}
	}
	target := mat.NewVecDense(n, truth)
	var fit, miss mat.VecDense
	if fit.SolveVec(design, target) != nil {
		return 0
	}
	miss.MulVec(design, &fit)
	miss.SubVec(&miss, target)
	mean := mat.Sum(target) / float64(n)
	var total float64
	for _, v := range truth {
		total += (v - mean) * (v - mean)
	}
	return 1 - mat.Dot(&miss, &miss)/total
}

// Overlit returns a clip of an object over a broad light that sways. The light causes most of the motion.
func Overlit(n int, seed uint64, object Shape) (c *video.Clip, places []float64) {
	c, places, _, lights := Crossing(n, seed, object, 0)
	for k, light := range lights {
		frame := c.Frame(k)
		for p := range frame {
			x, y := float64(p%c.Width)-12-4*math.Tanh(light), float64(p/c.Width)-12
			frame[p] = float32(min(0.6*float64(frame[p])+0.5*math.Exp(-(x*x+y*y)/(2*6*6)), 1))
		}
	}
	return c, places
}

// Mixed is n frames that a random walk back to 0 mixes of two smooth pictures, the second by its square, under noise of sd 1 around a grey of
// 0.5 that is scaled to fit; motion has a fiftieth of the noise's energy, or none.
func Mixed(n int, motion float64) (c *video.Clip, truth []float64) {
	const side, grey = 24, 0.05
	rng := rand.New(rand.NewPCG(3, 4))
	c = &video.Clip{Channels: 1, Height: side, Width: side}
	var z float64
	for k := range n {
		for p := range side * side {
			x, y := 2*math.Pi*float64(p%side)/side, 2*math.Pi*float64(p/side)/side
			v := motion * (z*math.Sin(x)*math.Cos(y) + 0.3*z*z*math.Cos(x+y))
			c.Pixels = append(c.Pixels, float32(0.5+grey*(v+rng.NormFloat64())))
		}
		c.Times, c.Trajectory, truth = append(c.Times, 0.1*float64(k)), append(c.Trajectory, 0), append(truth, z)
		z += -0.05*z + math.Sqrt(0.1)*rng.NormFloat64()
	}
	return c, truth
}

// Films returns a ring that drifts, cut into films of n frames; each has its own of four backgrounds, of more energy than the ring's motion.
func Films(n int) *video.Clip {
	clip, _ := Drifting(200, 5, Ring)
	for f := range clip.Len() {
		film := f / n
		clip.Trajectory[f] = uint64(film)
		for i, v := range clip.Frame(f) {
			x, y := i%clip.Width, i/clip.Width%clip.Height
			clip.Frame(f)[i] = min(1, v+0.05*float32(film%4)*float32(1+math.Sin(float64(x)/5)*math.Cos(float64(y)/5)))
		}
	}
	return clip
}

// Lingering is four films of one background, in each of which a ring stays about another place.
func Lingering() *video.Clip {
	clip, _ := Drifting(200, 5, func(x, y float64) float64 { return 0 })
	rng := rand.New(rand.NewPCG(5, 1))
	for f := range clip.Len() {
		film := f / 50
		clip.Trajectory[f] = uint64(film)
		x, y := 7+3*float64(film)+0.7*rng.NormFloat64(), 12+4*float64(film%2)+0.7*rng.NormFloat64()
		for i := range clip.Frame(f) {
			clip.Frame(f)[i] += float32(Ring(float64(i%clip.Width)-x, float64(i/clip.Width)-y))
		}
	}
	return clip
}

// Swaying is n frames of 16×16 with a spot of sd 3 pixels that strays about reach pixels from the middle, and where it was.
func Swaying(n int, reach float64) (c *video.Clip, truth *mat.Dense) {
	rng := rand.New(rand.NewPCG(5, 0))
	c, truth = &video.Clip{Channels: 1, Height: 16, Width: 16}, mat.NewDense(n, 2, nil)
	var x, y float64
	for i := range n {
		truth.SetRow(i, []float64{x, y})
		for p := range 256 {
			dx, dy := float64(p%16)-7.5-reach*x, float64(p/16)-7.5-reach*y
			c.Pixels = append(c.Pixels, float32(math.Exp(-(dx*dx+dy*dy)/18)))
		}
		c.Times, c.Trajectory = append(c.Times, 0.1*float64(i)), append(c.Trajectory, 0)
		x, y = 0.95*x+0.3*rng.NormFloat64(), 0.95*y+0.3*rng.NormFloat64()
	}
	return c, truth
}

// Walk returns a bright spot on a random walk over n frames of 8×8, the smallest that the networks take: the fewer features, the sooner
// they are primed.
func Walk(n int, seed uint64) *video.Clip {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := &video.Clip{Channels: 1, Height: 8, Width: 8}
	x, y := 3.5, 3.5
	for i := range n {
		for p := range 64 {
			dx, dy := float64(p%8)-x, float64(p/8)-y
			c.Pixels = append(c.Pixels, float32(math.Exp(-(dx*dx+dy*dy)/4)))
		}
		c.Times, c.Trajectory = append(c.Times, 0.1*float64(i)), append(c.Trajectory, 0)
		x, y = min(max(x+0.5*rng.NormFloat64(), 1), 6), min(max(y+0.5*rng.NormFloat64(), 1), 6)
	}
	return c
}

// RandomPolynomial returns the identity and N(0, size²) on every other coefficient.
func RandomPolynomial(b numeric.Basis, d int, size float64, rng *rand.Rand) *numeric.Polynomial {
	p := &numeric.Polynomial{Basis: b, Weights: mat.NewDense(len(b), d, nil)}
	for k := range b {
		for i := range d {
			p.Weights.Set(k, i, size*rng.NormFloat64())
		}
	}
	for i := range d {
		p.Weights.Set(1+i, i, 1)
	}
	return p
}

// Agree fails when got is further than parity from want.
func Agree(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s gives %d values, expected %d", what, len(got), len(want))
	}
	worst := 0.0
	for i, v := range want {
		worst = math.Max(worst, math.Abs(float64(got[i])-v)) // NaN stays
	}
	if !(worst <= parity) {
		t.Errorf("%s is off by %.2g, expected at most %.2g", what, worst, parity)
	}
}

// parity is how far a float32 forward may lie from the float64 one. The outputs are below 10, and sums of up to 1600 products,
// six layers deep, round to about 1e-6 of that. Two forwards within half of 1e-4 of a third are within 1e-4 of each other:
// OpenCV's and package dnnl's, but also oneDNN's and plain Go's, of which a binary holds only one.
const parity = 5e-5

// Trapped is n frames of 32×32 with a bead of sd 4 px that stays about the middle, sd 0.7 px, swells and shrinks, and has a dark ring, over a slope
// of grey, under a little noise: where it is, n × 2, and how far it has swollen.
func Trapped(n int, seed uint64) (c *video.Clip, truth *mat.Dense, swelling []float64) {
	const side, keeps = 32, 0.8
	rng := rand.New(rand.NewPCG(seed, 0))
	c, truth = &video.Clip{Channels: 1, Height: side, Width: side}, mat.NewDense(n, 2, nil)
	var state [3]float64 // x, y, and the logarithm of the width
	for k := range n {
		for i, sd := range []float64{0.7, 0.7, 0.08} {
			state[i] = keeps*state[i] + sd*math.Sqrt(1-keeps*keeps)*rng.NormFloat64()
		}
		width := 4 * math.Exp(state[2])
		for p := range side * side {
			r := math.Hypot(float64(p%side)-15.5-state[0], float64(p/side)-15.5-state[1]) / width
			v := 0.3 + 0.1*float64(p/side)/side + 0.5*math.Exp(-r*r/2)*(1-0.2*r*r) + 0.01*rng.NormFloat64()
			c.Pixels = append(c.Pixels, float32(min(max(v, 0), 1)))
		}
		c.Times, c.Trajectory = append(c.Times, 0.1*float64(k)), append(c.Trajectory, 0)
		truth.SetRow(k, state[:2])
		swelling = append(swelling, state[2])
	}
	return c, truth, swelling
}
