// Package sdevaetest has synthetic clips with known answers for the tests of several packages: moving objects with noise, over backgrounds, or cut into films.
// It also has measures of a correct answer.
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

// Shape is the shape of a synthetic object: its light at (dx, dy) from its centre.
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

// Drifting returns n frames of 24×24 with objects that move independently over a slope of grey with a little noise, and the objects' positions: n × 2 per
// object.
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

// AffineError returns, for each coordinate of the truth, the root mean square error of the best affine function of z.
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

// AroundMeans returns n frames of 24×24 with objects of one shape, and their positions: frames × 2 per object. Each object stays near its own mean position;
// means has x, y of each. The means are so close that the objects meet. Where objects overlap, the picture is saturated.
func AroundMeans(n int, seed uint64, object Shape, means ...float64) (clip *video.Clip, truth []float64) {
	const pull, step = 0.1, 0.8
	clip, _ = Drifting(n, seed, func(_, _ float64) float64 { return 0 }) // only the background
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

// Bright returns a disc so bright that it saturates.
func Bright(dx, dy float64) float64 { return 2 * Disc(dx, dy) }

// Nearest returns the object that is nearest to a position, and its distance.
func Nearest(place [2]float64, objects []float64) (which int, least float64) {
	least = math.Inf(1)
	for i := 0; i < len(objects); i += 2 {
		if r := math.Hypot(place[0]-objects[i], place[1]-objects[i+1]); r < least {
			which, least = i/2, r
		}
	}
	return which, least
}

// CheckIdentities requires that each column is a different object in at least the given share of the frames.
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

// Crossing returns n frames of 24×24 with an object over a grating of varying brightness. The object hides the given share of the grating. It also returns the
// positions (n × 2), the n backgrounds and the n brightnesses.
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

// AddNoise adds white noise of the given variance to a clip, normal or Student's t with 3 degrees of freedom. It clips the result at 4 standard deviations from
// its centre, as pretrain's grey window does, and scales it to [0,1].
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

// WalkingSquare returns n frames of 32×32 with an 8×8 square that follows an Ornstein-Uhlenbeck process, and its centre.
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

// Mixed returns n noisy frames that mix two smooth pictures. A mean-reverting random walk is the weight of the first picture, its square the weight of the
// second. The noise has an sd of 1 around a grey of 0.5, scaled to fit. motion scales the signal, which has a fiftieth of the noise's energy or none.
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

// Films returns a drifting ring, cut into films of n frames. Each of the four films has its own background, and these have more energy than the ring's motion.
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

// Lingering returns four films with the same background. In each film a ring stays near a different position.
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

// Swaying returns n frames of 16×16 with a spot of sd 3 pixels that moves about reach pixels away from the centre, and its positions.
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

// Walk returns n frames of 8×8 with a bright spot on a random walk. This is the smallest size for the networks; with few features the initialisation is fast.
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

// RandomPolynomial returns a polynomial with the identity as its linear part and N(0, size²) for all other coefficients.
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

// Agree fails if got differs from want by more than parity.
func Agree(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s gives %d values, expected %d", what, len(got), len(want))
	}
	worst := 0.0
	for i, v := range want {
		worst = math.Max(worst, math.Abs(float64(got[i])-v)) // Max keeps NaN
	}
	if !(worst <= parity) {
		t.Errorf("%s is off by %.2g, expected at most %.2g", what, worst, parity)
	}
}

// parity is the largest allowed difference between a forward pass in float32 and in float64. The outputs are below 10, and sums of up to 1600 products, six
// layers deep, round to about 1e-6 of them. Two passes within half of 1e-4 of a third are within 1e-4 of each other. This applies to OpenCV and package dnnl,
// and also to oneDNN and plain Go, which are never in the same binary.
const parity = 5e-5

// Trapped returns n frames of 32×32 with a bead over a slope of grey with a little noise, its positions (n × 2) and its swelling. The bead has an sd of 4 px
// and a dark ring. It stays near the centre, with an sd of 0.7 px, and swells and shrinks.
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
