package population

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"driftscope/online/states"
)

// dt is the time of a frame, s, and slow the D of the slowest state, px²/s.
const (
	dt   = 0.02
	slow = 2.0
)

// The populations of the studies.
var (
	someTracks = []int{10, 100, 1000}
	someFrames = []int{5, 20, 100}
	someNoise  = []float64{0, 1, 3, 9}
	someBlur   = []float64{0, 1}
)

// filmOf says how a cell's objects are observed.
func (c *Cell) filmOf() states.Film {
	return states.Film{DT: dt, Exposure: c.Exposed * dt, Noise: c.R * slow * dt}
}

// cells of a study, over all populations that are not too large.
func (b *bench) cells(study string, each func(Cell)) {
	for _, tracks := range someTracks {
		for _, frames := range someFrames {
			if tracks*frames > b.most {
				continue
			}
			for _, r := range someNoise {
				for _, exposed := range someBlur {
					each(Cell{Study: study, Tracks: tracks, Frames: frames, R: r, Exposed: exposed, Runs: b.runs})
				}
			}
		}
	}
}

// pooled returns D of a population of one state.
func pooled(b *bench) (out []Cell, err error) {
	b.cells("pooled", func(c Cell) {
		if err != nil {
			return
		}
		c.Of, c.States, c.Bound = "d", 1, c.bound()
		film, found := c.filmOf(), make([]states.Interval, b.runs)
		err = b.each(uint64(len(out)), b.runs, func(run int, rng *rand.Rand) {
			var tracks []states.Segment
			for range c.Tracks {
				tracks = append(tracks, film.Draw(rng, slow, c.Frames))
			}
			if l, ok := states.Infer(tracks, states.Options{Exposure: film.Exposure, States: 1}); ok {
				found[run] = l.D
			}
		})
		c.judge(found, slow)
		out = append(out, c)
	})
	return out, err
}

// judge fills in how well intervals hold the truth.
func (c *Cell) judge(found []states.Interval, truth float64) {
	held, square, sum := 0.0, 0.0, 0.0
	for _, f := range found {
		if f.Low <= truth && truth <= f.High {
			held++
		}
		off := f.Value/truth - 1
		square, sum = square+off*off, sum+off
	}
	n := float64(len(found))
	c.Coverage, c.Error, c.Bias = new(held/n), new(math.Sqrt(square/n)), new(sum/n)
}

// bound is the least relative error of D if the noise is unknown, too. It follows from the information of the tridiagonal covariance C of a track's steps,
// tr(C⁻¹ ∂C C⁻¹ ∂C) over two axes, times the number of tracks.
func (c *Cell) bound() float64 {
	n, film := c.Frames-1, c.filmOf()
	full, byD, byNoise := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		byD.SetSym(i, i, 2*film.DT-2*film.Exposure/3)
		byNoise.SetSym(i, i, 2)
		if i > 0 {
			byD.SetSym(i-1, i, film.Exposure/3)
			byNoise.SetSym(i-1, i, -1)
		}
	}
	full.AddSym(scaled(byD, slow), scaled(byNoise, film.Noise))
	var inverse, a, b, product mat.Dense
	if inverse.Inverse(full) != nil {
		return math.NaN()
	}
	a.Mul(&inverse, byD)
	b.Mul(&inverse, byNoise)
	information := mat.NewSymDense(2, nil)
	for k, pair := range [3][2]*mat.Dense{{&a, &a}, {&a, &b}, {&b, &b}} {
		product.Mul(pair[0], pair[1])
		information.SetSym(k/2, (k+1)/2, float64(c.Tracks)*mat.Trace(&product))
	}
	var variance mat.Dense
	if variance.Inverse(information) != nil {
		return math.NaN()
	}
	return math.Sqrt(variance.At(0, 0)) / slow
}

func scaled(a *mat.SymDense, by float64) *mat.SymDense {
	var out mat.SymDense
	out.ScaleSym(by, a)
	return &out
}
