package online

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/latent"
)

// turned is a path in two dimensions, σ = 1, whose law and σ become others at a latent.
func turned(before, after drift, sigma float64, at, n int, rng *rand.Rand) *steps {
	t, z, mu := newTrack(2, n), make([]float64, 2), make([]float64, 2)
	for k := range n {
		dt := testStep
		if k == 0 {
			dt = 0
		}
		t.add(z, dt)
		law, spread := before, 1.0
		if k >= at {
			law, spread = after, sigma
		}
		law(mu, z)
		for i := range z {
			z[i] += mu[i]*testStep + spread*math.Sqrt(testStep)*rng.NormFloat64()
		}
	}
	return (&lens{active: []int{0, 1}, root: repeat(1, 2)}).steps(t)
}

// changeIn is where the drift of these steps changed, as a slice asks.
func changeIn(s *steps) (int, error) {
	s.weigh()
	p, err := learnt(s)
	if err != nil {
		return 0, err
	}
	return changed(s, p.evidence, changeOdds)
}

// The laws of method.md, section 5: a spring of 4/s whose centre moves by (1, 1), and a circle that reverses. 300 latents on, of 40 of
// each 24 and 39 are found.
func TestChangeIsFound(t *testing.T) {
	aside := towards(repeat(4, 2), repeat(1, 2))
	back := func(mu, z []float64) { mu[0], mu[1] = -z[0]+3*z[1], -3*z[0]-z[1] }
	for name, laws := range map[string][2]drift{"centre": {ornsteinUhlenbeck, aside}, "circle": {circle, back}} {
		missed := 0
		for seed := range uint64(5) {
			at, err := changeIn(turned(laws[0], laws[1], 1, 1000, 1400, newRand(seed)))
			if err != nil {
				t.Fatal(err)
			}
			if at == 0 {
				missed++
			} else if at < 930 || at > 1070 {
				t.Errorf("%s, seed %d: the change at 1000 is found at %d", name, seed, at)
			}
		}
		if missed > 1 {
			t.Errorf("%s: %d changes of 5 are missed", name, missed)
		}
	}
}

// A slice believes a change as rarely as alarms are asked for: that of a circle that reverses at the odds of an ordinary stream, which are
// 333 to 1 with 300 latents new, and not at odds that no 300 latents give.
func TestChangeIsAsRareAsAlarms(t *testing.T) {
	back := func(mu, z []float64) { mu[0], mu[1] = -z[0]+3*z[1], -3*z[0]-z[1] }
	s := turned(circle, back, 1, 1000, 1300, newRand(0))
	known := diffusion{v: 1}
	for alarms, want := range map[float64]uint64{1e5: 1, 1e200: 0} {
		l, in := newLearner(Config{Dim: 2, Replay: 1300, AlarmFrames: alarms}), newTrack(2, 300)
		for k := range s.len() {
			in.add(s.x[2*k:2*k+2], min(float64(k), 1)*testStep)
			if in.len() < 300 && k+1 < s.len() {
				continue
			}
			l = l.after(job{in: in, found: []diffusion{known, known}, activity: []latent.Activity{latent.Active, latent.Active}})
			in.clear()
		}
		if l.changes != want {
			t.Errorf("one false change in %g frames: %d changes found, want %d", alarms, l.changes, want)
		}
	}
}

// A change of σ alone is none of the drift, whatever it does to the steps that are weighed, and what is learnt across it is as good as
// before. Without a drift L_μ is 3.9 to 9; six paths of 1300 give 0.3 on average, with a scatter of 0.1.
func TestDiffusionChangeIsNoDriftChange(t *testing.T) {
	const paths = 6
	for _, sigma := range []float64{1.5, 3, 0.5} {
		off := 0.0
		for seed := range uint64(paths) {
			s := turned(ornsteinUhlenbeck, ornsteinUhlenbeck, sigma, 1000, 1300, newRand(300+seed))
			s.weigh()
			p, err := learnt(s)
			if err != nil {
				t.Fatal(err)
			}
			at, err := changed(s, p.evidence, changeOdds)
			if err != nil {
				t.Fatal(err)
			}
			if at != 0 {
				t.Errorf("σ of %g, seed %d: a change of the drift at %d", sigma, seed, at)
			}
			mu, law := make([]float64, 2), make([]float64, 2)
			for k := range s.len() {
				x := s.x[2*k : 2*k+2]
				p.drift(mu, x)
				ornsteinUhlenbeck(law, x)
				off += squareDistance(mu, law) / float64(s.len()*paths)
			}
		}
		t.Logf("σ of %g: L_mu %.2f", sigma, off)
		if off > 0.8 {
			t.Errorf("σ of %g: L_mu %.2f, want at most 0.8", sigma, off)
		}
	}
}

// σ is measured part by part: the cut is within a block or two of where σ changed, and the weighed steps are of σ = 1 on either side.
func TestStepsAreWeighedByTheirOwnDiffusion(t *testing.T) {
	s := turned(ornsteinUhlenbeck, ornsteinUhlenbeck, 1.5, 500, 1000, newRand(9))
	cuts := s.parts()
	if len(cuts) != 2 || cuts[0] < 460 || cuts[0] > 540 || cuts[1] != s.len() {
		t.Fatalf("cuts at %v, want one near 500 and the end", cuts)
	}
	before := s.square(cuts[0], s.len()) / float64(2*(s.len()-cuts[0]))
	dt := s.dt[700]
	s.weigh()
	if got := dt / s.dt[700]; math.Abs(got/before-1) > 1e-12 || math.Abs(before-2.25) > 0.4 { // √(2/1000)·2.25 = 0.1 is its scatter
		t.Errorf("a step's time is divided by %.3f, σ² measured there is %.3f, want 2.25", got, before)
	}
}

// Without a change none is found, bent laws and jumps between wells included: 200 to 1 came about by chance on two films of 520, of 500 and
// 2000 latents. So of 39 films one may be misjudged.
func TestNoChangeWhereThereIsNone(t *testing.T) {
	wrong := 0
	for _, s := range scenes {
		for seed := range uint64(3) {
			seen, _ := s.film(1000, 0, newRand(2000+seed))
			at, err := changeIn(s.steps(seen, 0))
			if err != nil {
				t.Fatal(err)
			}
			if at != 0 {
				wrong++
				t.Logf("%s, seed %d: a change at %d", s.name, seed, at)
			}
		}
	}
	if wrong > 1 {
		t.Errorf("a change is found on %d films of 39", wrong)
	}
}

// A part of the steps of a noisy path is learnt from as the path itself would be that began there: the filter's memory of what was before
// must not look like a drift.
func TestPartOfSteps(t *testing.T) {
	s := named("balls OU")
	seen, _ := s.film(600, 1, newRand(5))
	for i := range seen {
		seen[i].Mean[0] += 5 // far from 0, which a memory of nothing would be
	}
	for _, from := range []int{300, 500} {
		part, err := learnt(s.steps(seen, 1).part(from, 599))
		if err != nil {
			t.Fatal(err)
		}
		anew, err := learnt(s.steps(seen[from:], 1))
		if err != nil {
			t.Fatal(err)
		}
		// The filters differ for some ten steps of hundreds: evidence by a nat or two.
		if math.Abs(part.evidence-anew.evidence) > 3 {
			t.Errorf("from %d: ln evidence %.1f, anew %.1f", from, part.evidence, anew.evidence)
		}
	}
}
