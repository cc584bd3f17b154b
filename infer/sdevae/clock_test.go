package sdevae

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/drift"
)

func TestClock(t *testing.T) {
	c := &Clip{Times: []float64{5, 7, 6, 4, 9, 100, 101, 103}, Trajectory: []uint64{2, 2, 2, 2, 2, 3, 3, 4}}
	if got := c.Span(); got != 4 {
		t.Errorf("the longest trajectory lasts 4 s, found %g", got)
	}
	m := &Model{Span: 2} // of another, shorter clip
	if got, want := m.clock(c, c.frames()), []float32{-1, 1, 0, -1, 1, -1, 0, -1}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	if got := new(Model).clock(c, c.frames()); got != nil {
		t.Errorf("found %v, a model without a clock has none", got)
	}
	backwards := walk(60, 3)
	backwards.Times[0] = 1e6
	if _, err := Train(context.Background(), backwards, Config{Latent: 1, Tau: 1, Clock: true}, nil); err == nil || !strings.Contains(err.Error(), "leave the clock out") {
		t.Errorf("times that only go back: %v", err)
	}
}

// TestCarryTurnsTheClock carries z along a drift that is the clock itself: with the span T and n sub-steps from clock c,
// z goes on by dt (c + (n-1)/n dt/T), Euler's sum of it.
func TestCarryTurnsTheClock(t *testing.T) {
	const span, start, dt, n = 2.0, -0.5, 0.6, 3
	m := &Model{Dim: 1, Span: span, Substeps: n, Drift: drift.NewNetwork(2, rand.New(rand.NewPCG(1, 1)))}
	m.Drift.Weights[len(m.Drift.Weights)-2] = 1 // the linear skip from the clock to z
	got := make([]float64, 2)
	m.carry(got, []float64{7, start}, dt, new(drift.Scratch))
	if want := 7 + dt*(start+(n-1.0)/n*dt/span); math.Abs(got[0]-want) > 1e-12 || math.Abs(got[1]-start-2*dt/span) > 1e-12 {
		t.Errorf("found %v, expected %g and %g", got, want, start+2*dt/span)
	}
}

// tide is a bright spot on 8×16 pixels that is carried to the right for 2 s and back for 2 s, 3.5 pixels a second with noise, several
// times over.
func tide(times int) *Clip {
	rng := rand.New(rand.NewPCG(8, 0))
	c := &Clip{Channels: 1, Height: 8, Width: 16}
	for trajectory := range times {
		x, v := 4+rng.Float64(), 0.35
		for i := range 40 {
			for p := range c.Size() {
				dx, dy := float64(p%16)-x, float64(p/16)-4
				c.Pixels = append(c.Pixels, float32(math.Exp(-(dx*dx+dy*dy)/8)))
			}
			c.Times, c.Trajectory = append(c.Times, 0.1*float64(i)), append(c.Trajectory, uint64(trajectory))
			if i == 20 {
				v = -v
			}
			x += v + 0.15*rng.NormFloat64()
		}
	}
	return c
}

// TestDriftThatTurns: at the same latents the learnt drift goes with the spot early, and back with it late. The network starts at zero
// and is not done after 160 steps, so a tenth of the speed is enough.
func TestDriftThatTurns(t *testing.T) {
	suite.Long(t)
	clip := tide(6)
	r := train(t, Training{}, clip, Config{Latent: 1, Seed: 1, Tau: TauOf(clip), Clock: true, Steps: 160, Pairs: 16, Rate: 5e-3, Restarts: 1, Every: 20, Sleep: -1})
	_, p, err := r.Model.read(clip, clip.frames())
	if err != nil {
		t.Fatal(err)
	}
	speed := float64(p.Mean[20]-p.Mean[0]) / 2 // latent/s on the way out
	z := wide(p.Mean)
	slices.Sort(z)
	mu, scratch := make([]float64, 2), new(drift.Scratch)
	for _, at := range []float64{z[len(z)/4], z[len(z)/2], z[3*len(z)/4]} {
		for clock, want := range map[float64]float64{-0.7: speed, 0.7: -speed} {
			r.Model.Drift.Drift(mu, []float64{at, clock}, scratch)
			if got := mu[0] / want; got < 0.1 || got > 2 {
				t.Errorf("z = %.2f, clock %g: found a drift of %.2f, expected about %.2f", at, clock, mu[0], want)
			}
		}
	}
}
