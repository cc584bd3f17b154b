package online

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// trueSpread returns the D of σ = 1 under onlinetest.PixelMap, px²/s.
func trueSpread() float64 {
	sum := 0.0
	for _, row := range onlinetest.PixelMap {
		sum += (row[0]*row[0] + row[1]*row[1]) / 2
	}
	return sum / axes
}

// calibrate feeds latents to a Calibration with a known drift, and returns the resulting units.
func calibrate(t *testing.T, known *drift.Network, pixelUM float64, seen []latent.Latent) (u latent.Units) {
	t.Helper()
	var sde latent.SDE
	c, banks, clock := NewCalibration(2, pixelUM, 1), diffusion.NewBanks(2, 1, 0), diffusion.Clock{}
	tangent, field := drift.NewTangent(2), drift.NewField(known, drift.NoCorrection(2))
	refresh := func() {
		if banks.Refresh() {
			banks.Describe(&sde)
			c.Solve(banks.Found, sde.Activity)
			c.Describe(&u)
		}
	}
	for k := range seen {
		dt, err := clock.Advance(&seen[k])
		if err != nil {
			t.Fatal(err)
		}
		if dt > 0 {
			tangent.Follow(field, banks.Filtered())
			banks.Step(seen[k].Mean, dt, tangent)
		} else {
			banks.Start(seen[k].Mean)
		}
		c.Add(seen[k].Centroid, seen[k].Mean, dt)
		if k%100 == 99 {
			refresh()
		}
	}
	refresh()
	return u
}

// linearLaw returns the network of the drift zK; k lists K row by row.
func linearLaw(k ...float64) *drift.Network {
	n := drift.NewNetwork(2, onlinetest.Rand(1))
	copy(n.Weights[n.Size()-4:], k) // the skip weights; their inputs are in units of Scale, which is 1
	return n
}

// The map and D are right, and the 95 % interval covers D at its nominal rate, whatever the noise in latents and centroids. The coverage in 50 runs has a
// standard error of 0.031 and may differ from 0.95 by three of these. A scatters by up to 0.25 from run to run, and its mean may be off by 0.1. An ordinary
// regression would be off by 0.4 for the spring in noise.
func TestCalibration(t *testing.T) {
	suite.Calculation(t)
	const runs, n = 50, 600
	for _, c := range []struct {
		name     string
		law      onlinetest.Drift
		known    *drift.Network
		r, noise float64
	}{
		{"spring", onlinetest.Spring, linearLaw(-4, 0, 0, -4), 0, 0.3},
		{"spring in noise", onlinetest.Spring, linearLaw(-4, 0, 0, -4), 1, 0.3},
		{"circle in noise", onlinetest.Circle, linearLaw(-1, 3, -3, -1), 0.5, 0.5},
		{"free in noise", onlinetest.Still, nil, 1, 0.3},
		{"free, noisy centroids", onlinetest.Still, nil, 0, 3},
	} {
		covered, on, mean := 0, 0, 0.0
		for run := range uint64(runs) {
			rng := onlinetest.Rand(run + 1)
			seen, truth := onlinetest.Stream(c.law, n, c.r, rng)
			onlinetest.Photograph(seen, truth, c.noise, rng)
			u := calibrate(t, c.known, 0.5, seen)
			if u.Calibration != latent.Calibrated {
				continue
			}
			on++
			mean += u.PixelsPerLatentX[0]
			if want := trueSpread(); u.Px.Low <= want && want <= u.Px.High {
				covered++
			}
			if want := u.Px.D / 4; math.Abs(u.UM.D-want) > 1e-12*want || u.UM.Low != u.Px.Low/4 || u.UM.X+u.UM.Y != (u.Px.X+u.Px.Y)/4 {
				t.Fatalf("%s: found %+v µm²/s and %+v px²/s for pixels of 0.5 µm", c.name, u.UM, u.Px)
			}
		}
		mean /= float64(on)
		t.Logf("%s: calibrated in %d of %d runs, D covered in %d, mean A %.3f", c.name, on, runs, covered, mean)
		if on < runs*95/100 || float64(covered) < 0.86*float64(on) {
			t.Errorf("%s: calibrated in %d of %d runs, D covered in %d", c.name, on, runs, covered)
		}
		if math.Abs(mean-onlinetest.PixelMap[0][0]) > 0.1 {
			t.Errorf("%s: mean of %.3f px per latent unit, want %g", c.name, mean, onlinetest.PixelMap[0][0])
		}
	}
}

// There is no calibration if the centroid is missing or depends little or not at all on the latents, however long both wander.
func TestCalibrationIsRefused(t *testing.T) {
	const runs = 40
	for _, c := range []struct {
		name string
		n    int
		show func(seen []latent.Latent, truth [][]float64, rng *rand.Rand)
		want latent.Calibration
	}{
		{"no centroid", 300, func([]latent.Latent, [][]float64, *rand.Rand) {}, ""},
		{"few frames", 45, func(s []latent.Latent, z [][]float64, rng *rand.Rand) { onlinetest.Photograph(s, z, 0.1, rng) }, latent.Brief},
		{"another walk", 1000, func(s []latent.Latent, _ [][]float64, rng *rand.Rand) {
			_, other := onlinetest.Stream(onlinetest.Still, len(s), 0, rng)
			onlinetest.Photograph(s, other, 0.1, rng)
		}, latent.Unexplained},
		{"nothing but noise", 1000, func(s []latent.Latent, z [][]float64, rng *rand.Rand) { onlinetest.Photograph(s, z, 1000, rng) }, latent.Unexplained},
		{"not numbers", 300, func(s []latent.Latent, _ [][]float64, _ *rand.Rand) {
			for k := range s {
				s[k].Centroid = []float64{math.NaN(), math.Inf(1)}
			}
		}, ""},
	} {
		wrong := 0
		for run := range uint64(runs) {
			rng := onlinetest.Rand(run + 50)
			seen, truth := onlinetest.Stream(onlinetest.Still, c.n, 0.1, rng)
			c.show(seen, truth, rng)
			u := calibrate(t, nil, 0, seen)
			if u.Calibration != c.want || u.Px != (latent.Spread{}) {
				wrong++
			}
		}
		t.Logf("%s: %d of %d are not %q", c.name, wrong, runs, c.want)
		if wrong > runs/20 {
			t.Errorf("%s: %d of %d runs are not %q", c.name, wrong, runs, c.want)
		}
	}
}

func BenchmarkCalibration(b *testing.B) {
	c := NewCalibration(16, 0, 1)
	rng := onlinetest.Rand(1)
	z, centroid := onlinetest.Normals(16, rng), onlinetest.Normals(2, rng)
	found, activity := make([]diffusion.Estimate, 16), make([]latent.Activity, 16)
	for i := range activity {
		found[i], activity[i] = diffusion.Estimate{V: 1, Low: 0.9, High: 1.1}, latent.Active
	}
	for b.Loop() {
		z[rng.IntN(16)] = rng.NormFloat64()
		centroid[0] = z[0]
		c.Add(centroid, z, 0.01)
		if rng.IntN(10) == 0 {
			c.Solve(found, activity)
		}
	}
}
