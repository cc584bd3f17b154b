package offline

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// driftOf returns the drift of n.
func driftOf(n *drift.Network) onlinetest.Drift {
	scratch := new(drift.Scratch)
	return func(mu, z []float64) { n.Drift(mu, z, scratch) }
}

func fit(t testing.TB, seen []latent.Latent, c Config) *drift.Network {
	t.Helper()
	n, err := Fit(seen, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFitOnScenes: the error of the network, with unknown σ and noise. The error for one film has a standard deviation of up to 0.5 around the means of
// TestOracle, with a tail. Each limit is this mean plus two standard deviations.
func TestFitOnScenes(t *testing.T) {
	for name, limit := range map[string]float64{"balls circle": 1.5, "5 balls OU": 2.2, "Wasserstein double well": 1.4} {
		s := onlinetest.Named(name)
		seen, truth := s.Film(1000, 0, onlinetest.Rand(1))
		p, err := learn(seen, Config{Dim: len(s.From)})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := p.Network(asTrack(seen, len(s.From)), nil, 1)
		gap := onlinetest.Scene{From: s.From, Law: p.Drift}.Error(driftOf(n), truth)
		t.Logf("%s: L_mu %.3f, %.4f from the posterior mean", name, s.Error(driftOf(n), truth), gap)
		if l := s.Error(driftOf(n), truth); l > limit {
			t.Errorf("%s: L_mu %.2f, want at most %.2f", name, l, limit)
		}
		if gap > 0.1 { // the double well has the largest value, 0.06 on average over films
			t.Errorf("%s: network and posterior mean differ by %.3f", name, gap)
		}
	}
}

// TestNoiseIsFound: unknown noise must cost little. Over 16 films, L_mu is 0.41, 0.44 and 0.46 at r = 0.5, 3 and 10, and 0.35 without noise. The mean over
// eight films has a standard error of 0.12.
func TestNoiseIsFound(t *testing.T) {
	suite.Calculation(t)
	const films = 8
	s := onlinetest.Named("balls OU")
	for _, r := range []float64{0.5, 3, 10} {
		found := 0.0
		for film := range uint64(films) {
			seen, truth := s.Film(1000, r, onlinetest.Rand(200+film))
			p, err := learn(seen, Config{Dim: 2})
			if err != nil {
				t.Fatal(err)
			}
			found += s.Error(p.Drift, truth) / films
		}
		t.Logf("r = %g: L_mu %.2f", r, found)
		if found > 0.83 {
			t.Errorf("r = %g: L_mu %.2f with unknown noise, want at most 0.83", r, found)
		}
	}
}

func TestFitIsDeterministic(t *testing.T) {
	s := onlinetest.Named("balls circle")
	seen, truth := s.Film(400, 0.1, onlinetest.Rand(2))
	one, again, other := fit(t, seen, Config{Dim: 2, Seed: 7}), fit(t, seen, Config{Dim: 2, Seed: 7}), fit(t, seen, Config{Dim: 2, Seed: 8})
	if !reflect.DeepEqual(one, again) {
		t.Error("the same latents and seed gave a different network")
	}
	if reflect.DeepEqual(one, other) {
		t.Error("the seed is not used")
	}
	if gap := (onlinetest.Scene{From: s.From, Law: driftOf(one)}).Error(driftOf(other), truth); gap > 0.02 { // the weights differ, but the drift must not
		t.Errorf("the drift with another seed differs by %.3f", gap)
	}
}

// TestFitLeavesStillDimensionsAlone: of 16 noisy dimensions two move, with σ = 1 and 3. Only these get a drift.
func TestFitLeavesStillDimensionsAlone(t *testing.T) {
	s := onlinetest.Named("balls OU")
	seen, truth := s.Film(1000, 0.1, onlinetest.Rand(3))
	rng := onlinetest.Rand(4)
	for k := range seen {
		mean := make([]float64, 16)
		for i := range mean {
			mean[i] = 5 + 0.03*rng.NormFloat64()
		}
		mean[2], mean[9] = seen[k].Mean[0], 3*seen[k].Mean[1]
		seen[k].Mean = mean
	}
	mu := driftOf(fit(t, seen, Config{Dim: 16, Seed: 1}))
	all := make([]float64, 16)
	embedded := func(dst, z []float64) {
		at := make([]float64, 16)
		at[2], at[9] = z[0], 3*z[1]
		mu(all, at)
		dst[0], dst[1] = all[2], all[9]/3
		for i, v := range all {
			if i != 2 && i != 9 && v != 0 {
				t.Fatalf("dimension %d does not move and has drift %g", i, v)
			}
		}
	}
	if l := s.Error(embedded, truth); l > 1.3 { // 0.4 plus three standard deviations
		t.Errorf("L_mu %.2f in the dimensions that move", l)
	}
}

// TestFitOfNothing: too few latents, or latents that do not move, have zero drift.
func TestFitOfNothing(t *testing.T) {
	few, _ := onlinetest.Named("balls OU").Film(90, 0, onlinetest.Rand(5))
	at, _ := onlinetest.Named("balls OU").Film(500, 0, onlinetest.Rand(5))
	for k := range at {
		at[k].Mean = []float64{1, -2}
	}
	for name, seen := range map[string][]latent.Latent{"none": nil, "90": few, "still": at} {
		mu := []float64{1, 1}
		driftOf(fit(t, seen, Config{Dim: 2}))(mu, []float64{3, 4})
		if mu[0] != 0 || mu[1] != 0 {
			t.Errorf("%s: drift %v, want none", name, mu)
		}
	}
}

// TestFitCrossesNoCut: a jump between trajectories, or across a gap longer than MaxGap, does not count as motion. The jumps here would be a drift of 100.
func TestFitCrossesNoCut(t *testing.T) {
	s := onlinetest.Named("balls OU")
	s.Paths = 20
	cut, truth := s.Film(1000, 0, onlinetest.Rand(6))
	gapped := make([]latent.Latent, len(cut))
	for k := range cut {
		side := 20*float64(k/50%2) - 10 // every other path is shifted
		cut[k].Mean[0] += side
		gapped[k] = cut[k]
		gapped[k].Trajectory = 0
		gapped[k].Time = cut[k].Time.Add(time.Duration(k/50) * time.Second)
	}
	one, other := fit(t, cut, Config{Dim: 2, Seed: 1}), fit(t, gapped, Config{Dim: 2, Seed: 1, MaxGap: time.Second / 2})
	if !reflect.DeepEqual(one, other) {
		t.Error("gaps and cuts at the same frames gave different networks")
	}
	mu, largest := make([]float64, 2), 0.0
	for k := range truth {
		one.Drift(mu, cut[k].Mean, new(drift.Scratch))
		largest = max(largest, math.Hypot(mu[0], mu[1]))
	}
	if largest > 15 { // -4z at |z| = 1.2 is 5
		t.Errorf("found a drift of %.1f, the law has 5", largest)
	}
}

// TestFitTakesUnequalSteps: with half of the frames lost at random, the error equals the error for a complete film of the same duration.
func TestFitTakesUnequalSteps(t *testing.T) {
	s, rng, sum := onlinetest.Named("balls OU"), rand.New(rand.NewPCG(7, 7)), 0.0
	const films = 8
	for range films {
		seen, truth := s.Film(1000, 0, rng)
		var kept []latent.Latent
		for k := range seen {
			if k == 0 || rng.IntN(2) == 0 {
				kept = append(kept, seen[k])
			}
		}
		p, err := learn(kept, Config{Dim: 2})
		if err != nil {
			t.Fatal(err)
		}
		sum += s.Error(p.Drift, truth) / films
	}
	t.Logf("L_mu %.2f", sum)
	if sum > 0.72 { // 0.38 and three times 0.32/√8
		t.Errorf("L_mu %.2f, want at most 0.72", sum)
	}
}

func TestFitRefuses(t *testing.T) {
	seen, _ := onlinetest.Named("balls OU").Film(200, 0, onlinetest.Rand(8))
	seen[120].Time = seen[119].Time
	if _, err := Fit(seen, Config{Dim: 2}); !errors.Is(err, diffusion.ErrTimeOrder) {
		t.Errorf("for a time that does not advance, found %v", err)
	}
	if _, err := Fit(seen, Config{Dim: 3}); !errors.Is(err, diffusion.ErrLatent) {
		t.Errorf("for a wrong dimension, found %v", err)
	}
	seen[50].Mean[1] = math.NaN()
	if _, err := Fit(seen, Config{Dim: 2}); !errors.Is(err, diffusion.ErrLatent) {
		t.Errorf("for NaN, found %v", err)
	}
	if _, err := Fit(seen, Config{}); err == nil {
		t.Error("a Config without a dimension was accepted")
	}
}

// BenchmarkFit reports the errors of the network and of the posterior mean over 48 films per scene.
func BenchmarkFit(b *testing.B) {
	const films = 48
	for _, s := range onlinetest.Scenes {
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				network, mean := 0.0, 0.0
				for film := range uint64(films) {
					seen, truth := s.Film(1000, 0, onlinetest.Rand(1000+film))
					p, err := learn(seen, Config{Dim: len(s.From)})
					if err != nil {
						b.Fatal(err)
					}
					mean += s.Error(p.Drift, truth) / films
					n, _ := p.Network(asTrack(seen, len(s.From)), nil, 1)
					network += s.Error(driftOf(n), truth) / films
				}
				b.ReportMetric(network, "L_mu")
				b.ReportMetric(mean, "L_mu(mean)")
			}
		})
	}
}
