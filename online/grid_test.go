package online

import (
	"driftscope/online/onlinetest"

	"math"
	"testing"

	"driftscope/internal/latent"
	"driftscope/internal/suite"
)

// Draws have the posterior's mean, within five standard errors, in every kind of law.
func TestDrawsHaveTheMean(t *testing.T) {
	const n = 2000
	for _, name := range []string{"balls circle", "5 balls OU", "Wasserstein double well", "ball + Wasserstein OU"} {
		s := onlinetest.Named(name)
		seen, truth := s.Film(500, 0, onlinetest.Rand(3))
		p, err := learnt(stepsOf(s, seen, 0))
		if err != nil {
			t.Fatal(err)
		}
		z, d := truth[250], len(s.From)
		want, got, mean, square := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		p.Drift(want, z)
		for _, one := range p.Draws(n, onlinetest.Rand(4)) {
			one.Drift(got, z)
			for i, v := range got {
				mean[i] += v / n
				square[i] += v * v / n
			}
		}
		for i := range mean {
			if se := math.Sqrt((square[i] - mean[i]*mean[i]) / n); math.Abs(mean[i]-want[i]) > 5*se {
				t.Errorf("%s, coordinate %d: draws have the mean %g ± %g, the posterior %g", name, i, mean[i], se, want[i])
			}
		}
	}
}

// The standard errors are honest: over six films of two laws the published drift is off, at points where latents were seen, by one of them
// in the mean square. An honest figure scatters by a fifth; a law's prior is not its truth, hence more.
func TestFieldKnowsItsError(t *testing.T) {
	suite.Long(t)
	const films = 6
	for _, name := range []string{"balls OU", "balls circle"} {
		s, square, count, scarce := onlinetest.Named(name), 0.0, 0.0, 0
		for film := range uint64(films) {
			seen, _ := s.Film(600, 0, onlinetest.Rand(4000+film))
			l, in, known := NewLearner(LearnerConfig{Dim: 2, Replay: len(seen), Seed: film}), NewTrack(2, len(seen)), diffusion{v: 1}
			for k := range seen {
				in.Add(seen[k].Mean, min(float64(k), 1)*onlinetest.Step)
			}
			l = l.After(Job{In: in, Found: []diffusion{known, known}, Activity: []latent.Activity{latent.Active, latent.Active}})
			f, mu := l.field, make([]float64, 2)
			if f == nil || len(f.Z) != gridSide*gridSide || len(f.Axes) != 2 {
				t.Fatalf("%s, film %d: the field is %+v", name, film, f)
			}
			for k, z := range f.Z {
				s.Law(mu, z)
				if f.Scarce[k] {
					scarce++
					continue
				}
				for i := range mu {
					square += math.Pow((f.Drift[k][i]-mu[i])/f.SD[k][i], 2)
					count++
				}
			}
		}
		off := math.Sqrt(square / count)
		t.Logf("%s: errors of %.2f standard errors, %d of %d points scarce", name, off, scarce, films*gridSide*gridSide)
		if off < 0.5 || off > 1.5 {
			t.Errorf("%s: the drift is off by %.2f standard errors in the mean square", name, off)
		}
		if scarce == 0 || scarce > films*gridSide*gridSide*3/4 {
			t.Errorf("%s: %d points of %d are scarce", name, scarce, films*gridSide*gridSide)
		}
	}
}

// An addition without a bend is its network, by the shorter way.
func TestFlatAdditionIsItsNetwork(t *testing.T) {
	n := randomNetwork(3, 7)
	last := n.Hidden[len(n.Hidden)-1]
	clear(n.Weights[n.Size()-3*(last+1+3) : n.Size()-3*(1+3)]) // what the hidden layers give
	z := []float64{0.3, -2, 1}
	var found [2]struct{ mu, jac []float64 }
	for k, flat := range []bool{false, true} {
		f := NewField(nil, &Correction{Network: n, Affine: flat})
		found[k].mu, found[k].jac = make([]float64, 3), make([]float64, 9)
		f.Linearise(found[k].mu, found[k].jac, z)
		mu := make([]float64, 3)
		f.Drift(mu, z)
		onlinetest.Within(t, "drift and tangent", mu, found[k].mu, 1e-12) // sums in another order
	}
	onlinetest.Within(t, "drift", found[1].mu, found[0].mu, 1e-12)
	onlinetest.Within(t, "Jacobian", found[1].jac, found[0].jac, 1e-12)
}

// Beyond the box of what was seen an addition stays what it is at its edge.
func TestAdditionEndsAtItsBox(t *testing.T) {
	f := NewField(nil, &Correction{Network: randomNetwork(2, 8), Low: []float64{-1, -1}, High: []float64{1, 2}})
	mu, jac, edge, inside := make([]float64, 2), make([]float64, 4), make([]float64, 2), make([]float64, 4)
	f.Linearise(mu, jac, []float64{5, 0.5})
	f.Linearise(edge, inside, []float64{1, 0.5})
	onlinetest.Within(t, "drift", mu, edge, 0)
	onlinetest.Within(t, "Jacobian", jac, []float64{0, inside[1], 0, inside[3]}, 0)
}
