package refine

import (
	"math"
	"testing"

	"driftscope/internal/latent"
	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
	"driftscope/online/trajectory"
)

// The standard errors are honest: over six films of two laws the published drift is off, at points where latents were seen, by one of them
// in the mean square. An honest figure scatters by a fifth; a law's prior is not its truth, hence more.
func TestFieldKnowsItsError(t *testing.T) {
	suite.Long(t)
	const films = 6
	for _, name := range []string{"balls OU", "balls circle"} {
		s, square, count, scarce := onlinetest.Named(name), 0.0, 0.0, 0
		for film := range uint64(films) {
			seen, _ := s.Film(600, 0, onlinetest.Rand(4000+film))
			l, in, known := NewLearner(Config{Dim: 2, Replay: len(seen), Seed: film}), trajectory.NewTrack(2, len(seen)), diffusion.Estimate{V: 1}
			for k := range seen {
				in.Add(seen[k].Mean, min(float64(k), 1)*onlinetest.Step)
			}
			l = l.After(Job{In: in, Found: []diffusion.Estimate{known, known}, Activity: []latent.Activity{latent.Active, latent.Active}})
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
