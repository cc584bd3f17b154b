package online

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// BenchmarkLatents times a frame with d moving latents without refinement, and separately its filter and its alarms.
func BenchmarkLatents(b *testing.B) {
	for _, d := range []int{2, 16} {
		e := informed(b, Config{Dim: d, Seed: 1, Prior: springs(d, 4)})
		seen := ball(d, 1000, 4, 0.5, 1)
		feed(b, e, seen)
		if e.law.sde.ActiveCount != d {
			b.Fatalf("%d of %d latents move", e.law.sde.ActiveCount, d)
		}
		dst, k := new(latent.Estimate), 0
		b.Run(fmt.Sprintf("update d=%d", d), func(b *testing.B) {
			for b.Loop() {
				l := &seen[k%len(seen)]
				l.Time = time.Unix(100, 0).Add(time.Duration(k) * 10 * time.Millisecond)
				k++
				if err := e.Update(dst, l); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("filter and alarms d=%d", d), func(b *testing.B) {
			for b.Loop() {
				z, l := &seen[k%len(seen)], &e.law
				k++
				l.filter.Predict(onlinetest.Step, l.tangent, l.banks.Found)
				l.filter.Correct(z.Mean, l.banks.Found)
				l.alarms.Judge(Frame{Mean: z.Mean, SD: z.SD, Limit: l.alarms.Limit(l.banks.Transitions), DT: onlinetest.Step}, l.banks.Found)
				l.alarms.Step(z.Mean, onlinetest.Step, l.tangent, l.banks.Found)
				l.alarms.Weigh(l.banks.Found, l.sde.Activity, l.banks.Transitions, l.banks.Seconds)
				l.alarms.Update(z)
			}
		})
	}
}

// informed returns an estimator whose prior is the true law, without refinement.
func informed(t testing.TB, c Config) *Estimator {
	t.Helper()
	c.Applied = []uint64{} // repeats a run in which no slice applied
	e := estimator(t, c)
	e.law.alarms.Asked(slices.Repeat([]latent.Activity{latent.Active}, c.Dim))
	return e
}

// springs returns the network of the drift μ = -κz.
func springs(dim int, k float64) *drift.Network {
	n := drift.NewNetwork(dim, onlinetest.Rand(1))
	skip := n.Weights[n.Size()-dim*dim:]
	for i := range dim {
		skip[i*dim+i] = -k
	}
	return n
}

// ball returns n latents of d dimensions, each on a spring of rate k with σ = 1, measured every 10 ms with variance rΔt.
func ball(d, n int, k, r float64, seed uint64) []latent.Latent {
	rng, z := onlinetest.Rand(seed), make([]float64, d)
	seen := make([]latent.Latent, n)
	for t := range seen {
		l := latent.Latent{Seq: uint64(t), Time: time.Unix(0, 0).Add(time.Duration(t) * 10 * time.Millisecond), Mean: make([]float64, d)}
		for i := range z {
			l.Mean[i] = z[i] + math.Sqrt(r*onlinetest.Step)*rng.NormFloat64()
			z[i] += -k*z[i]*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
		}
		seen[t] = l
	}
	return seen
}

// begun adds the alarms that begin with the last frame to count, by code.
func begun(e *Estimator, count map[string]int) {
	for _, a := range e.Alarms() {
		if a.Level == latent.Warning {
			count[a.Code]++
		}
	}
}

// TestFalseAlarms: at one false alarm per thousand frames, 15,000 frames of a constant law may give 15 alarms of a kind and hold 15 frames back. Their
// standard deviation is √15 = 4, and three of these are allowed. Evidence overshoots its threshold, so half as many alarms are usual.
func TestFalseAlarms(t *testing.T) {
	const n, every = 3000, 1000
	for name, r := range map[string]float64{"clear": 0, "noisy": 1, "low SNR": 9} {
		count, held := map[string]int{}, uint64(0)
		for seed := range uint64(5) {
			e := informed(t, Config{Dim: 2, Seed: 1, Prior: springs(2, 4), AlarmFrames: every})
			seen, _ := onlinetest.Stream(onlinetest.Spring, n, r, onlinetest.Rand(200+seed))
			dst := new(latent.Estimate)
			for k := range seen {
				if err := e.Update(dst, &seen[k]); err != nil {
					t.Fatal(err)
				}
				begun(e, count)
			}
			held += dst.SDE.Held
		}
		t.Logf("%s: %v, %d frames held", name, count, held)
		if held < 3 || held > 27 {
			t.Errorf("%s: %d frames held back, expected 15", name, held)
		}
		for _, code := range []string{latent.DriftChanged, latent.DiffusionChanged, latent.UnlikeTraining} {
			if count[code] > 27 {
				t.Errorf("%s: %d false alarms %s, expected at most 15", name, count[code], code)
			}
		}
		if count[latent.ObjectLost] > 0 {
			t.Errorf("%s: the object was lost %d times", name, count[latent.ObjectLost])
		}
	}
}

// walk returns n latents every 10 ms of dz = μ(z)dt + σdW from z = 0, with noise of variance rΔt. The law is before and sigma up to frame change, after and
// later from there on.
func walk(n, change int, r float64, seed uint64, before, after onlinetest.Drift, sigma, later float64) []latent.Latent {
	rng, z, mu := onlinetest.Rand(seed), make([]float64, 2), make([]float64, 2)
	seen := make([]latent.Latent, n)
	for k := range seen {
		l := latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(time.Duration(k) * 10 * time.Millisecond), Mean: make([]float64, 2), Light: 100}
		if k == change {
			before, sigma = after, later
		}
		before(mu, z)
		for i := range z {
			l.Mean[i] = z[i] + math.Sqrt(r*onlinetest.Step)*rng.NormFloat64()
			z[i] += mu[i]*onlinetest.Step + sigma*math.Sqrt(onlinetest.Step)*rng.NormFloat64()
		}
		seen[k] = l
	}
	return seen
}

// TestChangesAreFound: a law that changes after 2000 frames is detected within the stated number of frames. A change of drift by δ adds evidence of δ²Δt/2σ²
// nats per frame: 0.08 if a spring's centre moves by 1, 0.18 if its middle half is reversed, 0.09 if it vanishes. An alarm needs ln(1e5·alternatives) = 15
// nats: 190 frames at best.
func TestChangesAreFound(t *testing.T) {
	moved := func(mu, z []float64) { mu[0], mu[1] = -4*(z[0]-1), -4*z[1] }
	reversed := func(mu, z []float64) { mu[0], mu[1] = -z[0]+3*z[1], -3*z[0]-z[1] }
	spiral := drift.NewNetwork(2, onlinetest.Rand(1))
	copy(spiral.Weights[spiral.Size()-4:], []float64{-1, 3, -3, -1})
	for name, c := range map[string]struct {
		r             float64
		prior         *drift.Network
		before, after onlinetest.Drift
		later         float64
		want          string
		within        int
	}{
		"centre moves":           {0, springs(2, 4), onlinetest.Spring, moved, 1, latent.DriftChanged, 500},
		"centre moves, in noise": {1, springs(2, 4), onlinetest.Spring, moved, 1, latent.DriftChanged, 600},
		"circle reverses":        {0.5, spiral, onlinetest.Circle, reversed, 1, latent.DriftChanged, 600},
		"σ doubles":              {0, springs(2, 4), onlinetest.Spring, onlinetest.Spring, 2, latent.DiffusionChanged, 40},
		"σ doubles, in noise":    {4, springs(2, 4), onlinetest.Spring, onlinetest.Spring, 2, latent.DiffusionChanged, 150},
		"σ halves":               {0.5, springs(2, 4), onlinetest.Spring, onlinetest.Spring, 0.5, latent.DiffusionChanged, 100},
	} {
		for seed := range uint64(2) {
			e := informed(t, Config{Dim: 2, Seed: 1, Prior: c.prior})
			seen := walk(2800, 2000, c.r, 50+seed, c.before, c.after, 1, c.later)
			found, early := -1, 0
			for k := range seen {
				if err := e.Update(new(latent.Estimate), &seen[k]); err != nil {
					t.Fatal(err)
				}
				count := map[string]int{}
				begun(e, count)
				if k < 2000 {
					early += count[latent.DriftChanged] + count[latent.DiffusionChanged]
				} else if found < 0 && count[c.want] > 0 {
					found = k - 2000
				}
			}
			t.Logf("%s: after %d frames", name, found)
			if found < 0 || found > c.within || early > 0 {
				t.Errorf("%s, seed %d: found after %d frames, expected within %d; %d alarms before", name, seed, found, c.within, early)
			}
		}
	}
}

// TestAlarmEnds: with a Forget below 1, the estimator learns the changed law, and the alarm ends.
func TestAlarmEnds(t *testing.T) {
	e := informed(t, Config{Dim: 2, Seed: 1, Prior: springs(2, 4), Forget: 0.995})
	var told []string
	for _, l := range walk(5000, 2500, 0.1, 60, onlinetest.Spring, onlinetest.Spring, 1, 2) {
		if err := e.Update(new(latent.Estimate), &l); err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Alarms() {
			if a.Code == latent.DiffusionChanged {
				told = append(told, string(a.Level))
			}
		}
	}
	if len(told) != 2 || told[0] != "warning" || told[1] != "info" {
		t.Errorf("found events %v, expected one begin and one end", told)
	}
	if s := e.law.sde.Sigma[0]; math.Abs(s-2) > 0.6 { // 200 transitions in the window
		t.Errorf("σ is %.2f, expected 2", s)
	}
}
