package motiontest

import (
	"math"
	"math/rand/v2"
)

// Model is one model of the challenge.
type Model int

// The five models of the challenge, in its order.
const (
	ATTM Model = iota // annealed transient time: diffusions of random D for times that depend on D
	CTRW              // continuous-time random walk: jumps after waits of a power law
	FBM               // fractional Brownian motion
	LW                // Lévy walk: runs of one speed for times of a power law
	SBM               // scaled Brownian motion: D changes with time as t^(α-1)
	Models
)

// String returns the short name used in the challenge.
func (m Model) String() string { return [...]string{"ATTM", "CTRW", "FBM", "LW", "SBM"}[m] }

// Whole is the number of places of a challenge track before it is cut.
const Whole = 1000

// Noises are the standard deviations of the localisation noise in the challenge, in standard deviations of a step: signal to noise 10, 2 and 1.
var Noises = [...]float64{0.1, 0.5, 1}

// Allows reports whether a model has tracks of an exponent: ATTM and CTRW up to 1, LW from 1, FBM below 2.
func (m Model) Allows(alpha float64) bool {
	switch m {
	case ATTM, CTRW:
		return alpha <= 1
	case LW:
		return alpha >= 1
	case FBM:
		return alpha < 2
	}
	return true
}

// weights are the relative numbers of tracks per model and exponent in the challenge data: the values of andi_datasets, challenge_theory_dataset,
// n_per_class, for exponents to 1 and above 1.
var weights = [2][Models]float64{
	{1. / 20, 1. / 20, 1. / 39, 0, 1. / 40},
	{0, 0, 1. / 39, 0.8 / 21, 1. / 40},
}

// Draw returns a model and an exponent from the mixture of the challenge: exponents 0.05, 0.10 ... 2.00 equally often, models as in its data.
func Draw(rng *rand.Rand) (Model, float64) {
	for {
		alpha := float64(1+rng.IntN(40)) / 20
		side := 0
		if alpha > 1 {
			side = 1
		}
		u := rng.Float64() * sum(weights[side][:])
		for m, w := range weights[side] {
			if u -= w; u < 0 {
				if Model(m).Allows(alpha) {
					return Model(m), alpha
				}
				break
			}
		}
	}
}

func sum(list []float64) float64 {
	s := 0.
	for _, v := range list {
		s += v
	}
	return s
}

// Path returns the Whole places of a model without noise, each axis divided by the standard deviation of its steps, as AnDi defines it (Muñoz-Gil et
// al., Nature Communications 12, 6253, 2021; andi_datasets, models_theory.py, two dimensions, and normalize).
func Path(rng *rand.Rand, model Model, alpha float64) (x, y []float64) {
	x, y = raw(rng, model, alpha)
	normalise(x)
	normalise(y)
	return x, y
}

// raw returns a path in the units of its model. It starts at 0, except for a Lévy walk, which starts after its first step.
func raw(rng *rand.Rand, model Model, alpha float64) (x, y []float64) {
	switch model {
	case ATTM:
		x, y = annealed(rng, alpha)
	case CTRW:
		x, y = waiting(rng, alpha)
	case FBM:
		x, y = Fractional(rng, Whole-1, alpha)
		x, y = walked(x), walked(y)
	case LW:
		x, y = levy(rng, alpha)
	case SBM:
		x, y = scaled(rng, alpha)
	}
	return x, y
}

// Localise adds noise of a standard deviation to the places of a path.
func Localise(rng *rand.Rand, noise float64, axes ...[]float64) {
	for _, axis := range axes {
		for i := range axis {
			axis[i] += noise * rng.NormFloat64()
		}
	}
}

// walked returns the path of some steps, from 0.
func walked(steps []float64) []float64 {
	path := make([]float64, len(steps)+1)
	for i, s := range steps {
		path[i+1] = path[i] + s
	}
	return path
}

// normalise divides a path by the standard deviation of its steps, if it has any.
func normalise(path []float64) {
	mean := (path[len(path)-1] - path[0]) / float64(len(path)-1)
	square := 0.
	for i := 1; i < len(path); i++ {
		d := path[i] - path[i-1] - mean
		square += d * d
	}
	sd := math.Sqrt(square / float64(len(path)-1))
	if sd == 0 {
		return
	}
	for i := range path {
		path[i] /= sd
	}
}

// annealed draws diffusions D from a law D^(σ-1), each for a time D^-γ, with γ = σ/α (regime 1 of the challenge).
func annealed(rng *rand.Rand, alpha float64) (x, y []float64) {
	sigma, gamma := 0., 0.
	for {
		sigma = 3 * (1e-2 + (1.1-1e-2)*rng.Float64())
		gamma = sigma / alpha
		if sigma <= gamma && gamma <= sigma+1 {
			break
		}
	}
	x, y = make([]float64, 1, Whole), make([]float64, 1, Whole)
	for len(x) < Whole {
		d := math.Pow(1-(0.1+0.89*rng.Float64()), 1/sigma)
		time := min(math.Pow(d, -gamma), Whole)
		sd := math.Sqrt(2 * d)
		for range min(int(time), Whole-len(x)) {
			x = append(x, x[len(x)-1]+sd*rng.NormFloat64())
			y = append(y, y[len(y)-1]+sd*rng.NormFloat64())
		}
	}
	return x, y
}

// waiting makes normal jumps after times of the law t^(-1-α), t ≥ 1.
func waiting(rng *rand.Rand, alpha float64) (x, y []float64) {
	x, y = make([]float64, Whole), make([]float64, Whole)
	px, py, from := 0., 0., 0
	for at := 0.; from < Whole; {
		at += math.Pow(1-rng.Float64(), -1/alpha)
		to := int(min(at, Whole))
		for i := from; i < to; i++ {
			x[i], y[i] = px, py
		}
		from = to
		px, py = px+rng.NormFloat64(), py+rng.NormFloat64()
	}
	return x, y
}

// levy runs at one speed in random directions for times of the law t^(-1-σ), t ≥ 1, σ = 3 - α; at α = 2 any σ below 1.
func levy(rng *rand.Rand, alpha float64) (x, y []float64) {
	sigma := 3 - alpha
	if alpha == 2 {
		sigma = rng.Float64()
	}
	x, y = make([]float64, 0, Whole), make([]float64, 0, Whole)
	px, py := 0., 0.
	for len(x) < Whole {
		time := min(math.Pow(1-rng.Float64(), -1/sigma), Whole)
		angle := 2 * math.Pi * rng.Float64()
		for range min(int(time), Whole-len(x)) {
			px, py = px+math.Cos(angle), py+math.Sin(angle)
			x, y = append(x, px), append(y, py)
		}
	}
	return x, y
}

// scaled makes steps of variance (t+1)^α - t^α, without the first one.
func scaled(rng *rand.Rand, alpha float64) (x, y []float64) {
	x, y = make([]float64, Whole), make([]float64, Whole)
	for i := 1; i < Whole; i++ {
		sd := math.Sqrt(math.Pow(float64(i+1), alpha) - math.Pow(float64(i), alpha))
		x[i], y[i] = x[i-1]+sd*rng.NormFloat64(), y[i-1]+sd*rng.NormFloat64()
	}
	return x, y
}
