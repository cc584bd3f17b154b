package regression

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
)

// turned returns the steps of a path whose drift changes from before to after at latent at.
func turned(before, after onlinetest.Drift, sigma float64, at, n int, rng *rand.Rand) *Steps {
	t := diffusion.NewTrack(2, n)
	for k, z := range onlinetest.Turned([2]onlinetest.Drift{before, after}, sigma, at, n, rng) {
		t.Add(z, min(float64(k), 1)*onlinetest.Step)
	}
	return (&Whitener{active: []int{0, 1}, root: onlinetest.Repeat(1, 2)}).Steps(t)
}

// changeIn returns the step before which the drift changed, as a slice computes it.
func changeIn(s *Steps) (int, error) {
	s.weigh()
	p, err := learntFrom(s)
	if err != nil {
		return 0, err
	}
	return changed(s, p.evidence, 200)
}

// TestChangeIsFound: a spring of 4/s whose centre moves by (1, 1), and a circle that reverses. Of 40 changes each, 24 and 39 are found after 300 latents.
func TestChangeIsFound(t *testing.T) {
	aside := onlinetest.Towards(onlinetest.Repeat(4, 2), onlinetest.Repeat(1, 2))
	back := func(mu, z []float64) { mu[0], mu[1] = -z[0]+3*z[1], -3*z[0]-z[1] }
	for name, laws := range map[string][2]onlinetest.Drift{"centre": {onlinetest.Spring, aside}, "circle": {onlinetest.Circle, back}} {
		missed := 0
		for seed := range uint64(5) {
			at, err := changeIn(turned(laws[0], laws[1], 1, 1000, 1400, onlinetest.Rand(seed)))
			if err != nil {
				t.Fatal(err)
			}
			if at == 0 {
				missed++
			} else if at < 930 || at > 1070 {
				t.Errorf("%s, seed %d: found the change at %d, expected 1000", name, seed, at)
			}
		}
		if missed > 1 {
			t.Errorf("%s: %d of 5 changes are missed", name, missed)
		}
	}
}

// A change of σ alone does not count as a change of the drift, and the drift learnt across it is as good as without it. With zero drift L_μ would be 3.9 to
// 9; six paths of 1300 give 0.3 on average, with a standard error of 0.1.
func TestDiffusionChangeIsNoDriftChange(t *testing.T) {
	suite.Calculation(t)
	const paths = 6
	for _, sigma := range []float64{1.5, 3, 0.5} {
		off := 0.0
		for seed := range uint64(paths) {
			s := turned(onlinetest.Spring, onlinetest.Spring, sigma, 1000, 1300, onlinetest.Rand(300+seed))
			s.weigh()
			p, err := learntFrom(s)
			if err != nil {
				t.Fatal(err)
			}
			at, err := changed(s, p.evidence, 200)
			if err != nil {
				t.Fatal(err)
			}
			if at != 0 {
				t.Errorf("σ of %g, seed %d: found a change of the drift at %d", sigma, seed, at)
			}
			mu, law := make([]float64, 2), make([]float64, 2)
			for k := range s.Len() {
				x := s.x[2*k : 2*k+2]
				p.Drift(mu, x)
				onlinetest.Spring(law, x)
				off += onlinetest.SquareDistance(mu, law) / float64(s.Len()*paths)
			}
		}
		t.Logf("σ of %g: L_mu %.2f", sigma, off)
		if off > 0.8 {
			t.Errorf("σ of %g: L_mu %.2f, want at most 0.8", sigma, off)
		}
	}
}

// σ is estimated per segment: the cut is within two blocks of the change of σ, and the weighted steps have σ = 1 on either side.
func TestStepsAreWeighedByTheirOwnDiffusion(t *testing.T) {
	s := turned(onlinetest.Spring, onlinetest.Spring, 1.5, 500, 1000, onlinetest.Rand(9))
	cuts := s.segments()
	if len(cuts) != 2 || cuts[0] < 460 || cuts[0] > 540 || cuts[1] != s.Len() {
		t.Fatalf("cuts at %v, want one near 500 and the end", cuts)
	}
	before := s.square(cuts[0], s.Len()) / float64(2*(s.Len()-cuts[0]))
	dt := s.dt[700]
	s.weigh()
	if got := dt / s.dt[700]; math.Abs(got/before-1) > 1e-12 || math.Abs(before-2.25) > 0.4 { // standard error √(2/1000)·2.25 = 0.1
		t.Errorf("a step's time is divided by %.3f, and σ² of its segment is %.3f, want 2.25", got, before)
	}
}

// Without a change none is found, even for nonlinear laws and jumps between wells. Odds of 200 to 1 occurred by chance in 2 of 520 films of 500 and 2000
// latents. So one of the 39 films here may have a false change.
func TestNoChangeWhereThereIsNone(t *testing.T) {
	suite.Calculation(t)
	wrong := 0
	for _, s := range onlinetest.Scenes {
		for seed := range uint64(3) {
			seen, _ := s.Film(1000, 0, onlinetest.Rand(2000+seed))
			at, err := changeIn(stepsOf(s, seen, 0))
			if err != nil {
				t.Fatal(err)
			}
			if at != 0 {
				wrong++
				t.Logf("%s, seed %d: a change at %d", s.Name, seed, at)
			}
		}
	}
	if wrong > 1 {
		t.Errorf("a change is found in %d of 39 films", wrong)
	}
}

// A drift learnt from a part of a noisy path's steps equals the drift learnt from a path that begins there. The filter's memory of earlier latents must not
// look like a drift.
func TestPartOfSteps(t *testing.T) {
	s := onlinetest.Named("balls OU")
	seen, _ := s.Film(600, 1, onlinetest.Rand(5))
	for i := range seen {
		seen[i].Mean[0] += 5 // far from 0, the state of an empty filter
	}
	for _, from := range []int{300, 500} {
		part, err := learntFrom(stepsOf(s, seen, 1).part(from, 599))
		if err != nil {
			t.Fatal(err)
		}
		anew, err := learntFrom(stepsOf(s, seen[from:], 1))
		if err != nil {
			t.Fatal(err)
		}
		// The two filters differ in about ten of hundreds of steps, and the evidence by one or two nats.
		if math.Abs(part.evidence-anew.evidence) > 3 {
			t.Errorf("from step %d: ln evidence %.1f, for a new path %.1f", from, part.evidence, anew.evidence)
		}
	}
}
