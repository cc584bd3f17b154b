package states

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Bin is one bin of a spectrum.
type Bin struct {
	D     float64 // middle of the bin, px²/s
	Share float64 // fraction of the objects' time
}

// The grid of an array. Ten steps give D to a third and a hundred to a tenth, so sixteen bins per decade are enough.
const (
	arrayPerDecade = 16
	arrayBelow     = 3 // decades below the mean D
	arrayAbove     = 2
	arrayNoises    = 6    // number of noise levels; their sd runs from zero to arrayReach times the upper end of its interval in the mixture
	arrayReach     = 2.0  // above 1, because objects out of focus are localised worse
	concentration  = 5.8  // prior occupation of a state, in steps; a decade has the weight of 25x36 states of one step each, as in the published array
	arrayRounds    = 200  // largest number of rounds
	arrayNear      = 1e-5 // largest change of a share in the last round
)

// array is a mixture over a grid of D and noise that learns only its occupations (Heckert, Dahal, Tjian and Darzacq, eLife 11, e70169, 2022): with a
// Dirichlet prior of α steps per state and nᵢ steps of track i, by variational Bayes
//
//	rᵢⱼ ∝ p(trackᵢ | j) exp ψ(α + mⱼ),  mⱼ = Σᵢ nᵢ rᵢⱼ.
type array struct {
	logD   []float64
	noises int
	rows   []float64 // likelihood of each segment in each state, noise fastest, divided by its maximum
	steps  []float64 // steps of each segment times its weight
}

// newArray computes the likelihoods over the grid, with noise sds from zero to noise, px.
func (f *fitting) newArray(noise float64) *array {
	a := &array{noises: arrayNoises}
	if noise == 0 {
		a.noises = 1
	}
	middle := math.Log(f.unit / f.time)
	for j := range (arrayBelow+arrayAbove)*arrayPerDecade + 1 {
		a.logD = append(a.logD, middle+(float64(j)/arrayPerDecade-arrayBelow)*math.Ln10)
	}
	n := len(a.logD) * a.noises
	a.rows, a.steps = make([]float64, n*len(f.segments)), make([]float64, len(f.segments))
	laws := make([]law, 0, n)
	for _, x := range a.logD {
		for k := range a.noises {
			sd := noise * float64(k) / max(arrayNoises-1, 1)
			laws = append(laws, law{math.Exp(x), sd * sd, f.exposure, f.stray})
		}
	}
	f.each(func(i int) {
		s, row, top := &f.segments[i], a.rows[i*n:][:n], math.Inf(-1)
		for j, l := range laws {
			row[j] = s.logLikelihood(l)
			top = max(top, row[j])
		}
		for j := range row {
			row[j] = math.Exp(row[j] - top)
		}
		a.steps[i] = s.Weight * float64(len(s.Steps))
	})
	return a
}

// occupations returns the steps in each state.
func (a *array) occupations() []float64 {
	n := len(a.logD) * a.noises
	occupied, factor, next := make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range factor {
		factor[j] = 1
	}
	total := 0.0
	for _, s := range a.steps {
		total += s
	}
	for range arrayRounds {
		clear(next)
		for i, steps := range a.steps {
			row := a.rows[i*n:][:n]
			sum := dot(row, factor)
			if sum <= 0 {
				continue
			}
			scale := steps / sum
			for j, v := range row {
				next[j] += scale * v * factor[j]
			}
		}
		change := 0.0
		for j := range next {
			change = max(change, math.Abs(next[j]-occupied[j]))
			factor[j] = math.Exp(mathext.Digamma(concentration + next[j]))
		}
		occupied, next = next, occupied
		if change < arrayNear*total {
			break
		}
	}
	return occupied
}

// spectrum returns the shares of D, summed over the noise and corrected for objects that leave the slab in focus. depth is the thickness of the slab, px, 0
// if unknown; time is the mean time of a step, s.
func (a *array) spectrum(time, depth float64) []Bin {
	occupied, sum := a.occupations(), 0.0
	bins := make([]Bin, len(a.logD))
	for j, x := range a.logD {
		bins[j].D = math.Exp(x)
		for k := range a.noises {
			bins[j].Share += occupied[j*a.noises+k]
		}
		bins[j].Share /= InFocus(bins[j].D, time, depth)
		sum += bins[j].Share
	}
	for j := range bins {
		bins[j].Share /= sum
	}
	return bins
}
