package sdevae

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/suite"
)

// shaped is what a test draws: a thing's light at (dx, dy) from its middle.
type shaped func(dx, dy float64) float64

func bar(dx, dy float64) float64  { return 0.4 * math.Exp(-dx*dx/2-dy*dy/18) }
func disc(dx, dy float64) float64 { return 0.4 / (1 + math.Exp(2*(math.Hypot(dx, dy)-3))) }
func ring(dx, dy float64) float64 {
	r := math.Hypot(dx, dy) - 3.5
	return 0.5 * math.Exp(-r*r)
}

// drifting is n frames of 24×24 in which things walk about, apart from each other in time and place, over a slope of grey under a little
// noise, with where they are: n × 2 a thing.
func drifting(n int, seed uint64, things ...shaped) (c *Clip, truth *mat.Dense) {
	const side = 24
	rng := rand.New(rand.NewPCG(seed, 0))
	c, truth = &Clip{Channels: 1, Height: side, Width: side}, mat.NewDense(n, 2*len(things), nil)
	at := make([]float64, 2*len(things))
	for i := range at {
		at[i] = 7 + 10*rng.Float64()
	}
	for k := range n {
		for p := range side * side {
			v := 0.1 + 0.2*float64(p/side)/side + 0.01*rng.NormFloat64()
			for i, thing := range things {
				v += thing(float64(p%side)-at[2*i], float64(p/side)-at[2*i+1])
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

// off is, for each coordinate of the truth, the root mean square by which an affine function of z misses it.
func off(t *testing.T, z []float64, truth *mat.Dense) (rms []float64) {
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

// TestMovers: a bar and a ring, or three things, are found where they are, to a fifth of a pixel: they overlap in one frame of ten, where
// one is off by the other's light. What is drawn of them is the pictures but for the noise.
func TestMovers(t *testing.T) {
	suite.Long(t)
	for name, things := range map[string][]shaped{"one": {ring}, "two": {bar, ring}, "three": {bar, ring, disc}} {
		t.Run(name, func(t *testing.T) {
			clip, truth := drifting(200, 5, things...)
			m := findMovers(t.Context(), clip, clip.frames(), len(things), rand.New(rand.NewPCG(3, 4)))
			places, left := m.track(clip, clip.frames())
			if worst := slices.Max(off(t, places, truth)); worst > 0.2 {
				t.Errorf("places are off by %.2g px", worst)
			}
			if share := 1 - left/clip.Energy(); share < 0.95 {
				t.Errorf("%.3f of the light is explained", share)
			}
			drawn := make([]float32, clip.Len()*clip.Size())
			m.draw(drawn, places, clip.Len())
			if got := squaredError(clip.Pixels, drawn) / float64(clip.Len()); math.Abs(got-left) > 1e-6*clip.Energy() {
				t.Errorf("drawings leave %g of a frame, tracking says %g", got, left)
			}
			for k, of := range m.kin() {
				if of != k {
					t.Errorf("shape %d is alike shape %d by %.2f", k, of, m.likeness(k, of))
				}
			}
		})
	}
}

// TestUnwrapped: what leaves the picture a little goes on there, and does not come in on the other side.
func TestUnwrapped(t *testing.T) {
	m := newMovers(&Clip{Channels: 1, Height: 20, Width: 10})
	m.shapes = make([][][]complex128, 1)
	places := []float64{1, 19, 9.5, 18, 0.5, 1, 8.5, 0}
	got := slices.Clone(places)
	m.unwrap(got)
	for i, want := range [][]float64{{1, -0.5, 0.5, -1.5}, {-1, -2, 1, 0}} {
		for k := range want {
			if v := got[2*k+i]; math.Abs(math.Remainder(v-places[2*k+i], []float64{10, 20}[i])) > 1e-9 || math.Abs((v-got[i])-(want[k]-want[0])) > 1e-9 {
				t.Errorf("coordinate %d goes %v, expected %v but for whole pictures", i, got, want)
			}
		}
	}
}
