package online

import (
	"math"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// TestVanishedDrift: a spring that is switched off is reported for as long as it is the drift found, and no longer once the drift found is zero as well. The
// worth of 12 nats decays to 1 within 2048 ln 12 = 5089 frames.
func TestVanishedDrift(t *testing.T) {
	const kappa, every = 4.0, 1e5
	c, rng, z := newChanges(1), onlinetest.Rand(6), 0.0
	found, active := []diffusion.Estimate{{V: 1, Low: 0.9, High: 1.1}}, []latent.Activity{latent.Active}
	c.start([]float64{z}, found)
	for _, part := range []struct {
		name       string
		frames     int
		law, known float64 // rates of the true spring and of the spring found
		low, high  float64 // limits of the evidence at the end
	}{
		{"the law is known", 10000, kappa, kappa, 0, every},
		{"it is switched off", 5000, 0, kappa, every, math.Inf(1)},
		{"it stays unknown", 10000, 0, kappa, every, math.Inf(1)},
		{"it is known again", 5200, 0, 0, 0, clearShare * every},
		{"another spring", 10000, kappa, kappa, 0, every},
		{"it is switched off too", 5000, 0, kappa, every, math.Inf(1)},
	} {
		for range part.frames {
			before := z
			z += -part.law*z*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
			c.step([]float64{z}, onlinetest.Step, &drift.Tangent{Centre: []float64{before}, Mu: []float64{-part.known * before}, Jacobian: []float64{-part.known}}, found)
			c.weigh(found, active, 1e4, 1e4*onlinetest.Step)
		}
		if e := c.evidence(1).Drift; !(e >= part.low && e <= part.high) {
			t.Errorf("%s: the evidence is %.3g, expected %g to %g", part.name, e, part.low, part.high)
		}
	}
}

// TestOverestimatedDrift: if the true drift is half the drift found, no drift is as likely as the drift found. Evidence above A must then occur in at most
// paths·frames/A paths, plus three standard deviations.
func TestOverestimatedDrift(t *testing.T) {
	const kappa, every, frames, paths = 2.0, 1e4, 1500, 400
	found, active := []diffusion.Estimate{{V: 1, Low: 0.9, High: 1.1}}, []latent.Activity{latent.Active}
	alarms := 0
	for seed := range uint64(paths) {
		c, rng, z := newChanges(1), onlinetest.Rand(seed), 0.0
		c.worth = establishedAt + 1 // the drift found is established
		c.start([]float64{z}, found)
		most := 0.0
		for range frames {
			before := z
			z += -kappa*z*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
			c.step([]float64{z}, onlinetest.Step, &drift.Tangent{Centre: []float64{before}, Mu: []float64{-2 * kappa * before}, Jacobian: []float64{-2 * kappa}}, found)
			c.weigh(found, active, frames, frames*onlinetest.Step)
			most = max(most, c.noDrift)
		}
		if most > every {
			alarms++
		}
	}
	expected := paths * frames / every
	t.Logf("%d of %d paths, %g expected", alarms, paths, expected)
	if most := expected + 3*math.Sqrt(expected); float64(alarms) > most {
		t.Errorf("evidence for no drift in %d of %d paths, expected at most %g", alarms, paths, most)
	}
}

// TestUnaskedDrift: before refinement has learnt from a dimension, its unknown drift does not count as a change of diffusion. Afterwards a fall of σ² to a
// quarter is reported within 100 frames.
func TestUnaskedDrift(t *testing.T) {
	const n = 100
	m, rng, z := NewMonitor(AlarmConfig{Dim: 1, Every: 1e5}), onlinetest.Rand(8), 0.0
	found, active := []diffusion.Estimate{{V: 4, Low: 3.8, High: 4.2}}, []latent.Activity{latent.Active}
	still := drift.NewTangent(1)
	m.Start([]float64{z}, found)
	for _, asked := range []bool{false, true} {
		if asked {
			m.Asked(active)
		}
		for range n {
			z += math.Sqrt(onlinetest.Step) * rng.NormFloat64()
			still.Centre[0] = z
			m.Step([]float64{z}, onlinetest.Step, still, found)
			m.Weigh(found, active, 1e3, 1e3*onlinetest.Step)
		}
		if e := m.Evidence().Diffusion; asked != (e > 1e5) || !asked && e != 0 {
			t.Errorf("asked %v: the evidence is %.3g", asked, e)
		}
	}
}
