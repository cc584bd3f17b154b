package regression

import (
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
)

// The odds at which a slice believes a change follow from AlarmFrames. It believes the reversal of a circle at the odds of an ordinary stream, 333 to 1 with
// 300 new latents, but not at odds that 300 latents cannot reach.
func TestChangeIsAsRareAsAlarms(t *testing.T) {
	suite.Calculation(t)
	back := func(mu, z []float64) { mu[0], mu[1] = -z[0]+3*z[1], -3*z[0]-z[1] }
	path := onlinetest.Turned([2]onlinetest.Drift{onlinetest.Circle, back}, 1, 1000, 1300, onlinetest.Rand(0))
	known := diffusion.Estimate{V: 1}
	for alarms, want := range map[float64]uint64{1e5: 1, 1e200: 0} {
		l, in := NewLearner(Config{Dim: 2, Replay: 1300, AlarmFrames: alarms}), diffusion.NewTrack(2, 300)
		for k := range path[:1299] {
			in.Add(path[k], min(float64(k), 1)*onlinetest.Step)
			if in.Len() < 300 && k+1 < 1299 {
				continue
			}
			l = l.After(Job{In: in, Found: []diffusion.Estimate{known, known}, Activity: []latent.Activity{latent.Active, latent.Active}})
			in.Clear()
		}
		if l.changes != want {
			t.Errorf("one false change in %g frames: %d changes found, want %d", alarms, l.changes, want)
		}
	}
}
