package diffusion

import (
	"math"
	"reflect"
	"testing"
	"time"

	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// tracked returns a track of two paths of dz = dW. The second begins at row 300.
func tracked(n int) *Track {
	t, rng := NewTrack(2, n), onlinetest.Rand(3)
	first, second := observed(n, 0.5, 0, rng), observed(n, 0.5, 0, rng)
	for k := range n {
		dt := onlinetest.Step
		if k == 0 || k == 300 {
			dt = 0
		}
		t.Add([]float64{first[k], second[k]}, dt)
	}
	return t
}

// Banks that follow a track in parts, also through copies, equal banks that were given its latents directly. A clone that learns more leaves its original
// unchanged.
func TestFollow(t *testing.T) {
	const n = 900
	track, none := tracked(n), drift.NewField(nil, drift.NoCorrection(2))
	for _, exposure := range []time.Duration{0, 5 * time.Millisecond} {
		want, tangent := NewBanks(2, 0.999, exposure), drift.NewTangent(2)
		for k, dt := range track.DT() {
			if dt == 0 {
				want.Start(track.Row(k))
			} else {
				want.Step(track.Row(k), dt, tangent) // zero drift
			}
		}
		got := NewBanks(2, 0.999, exposure)
		got.Follow(track, 0, 400, none, drift.NewTangent(2))
		half := got.Clone()
		kept := half.Clone()
		half.Follow(track, 400, n, none, drift.NewTangent(2))
		other := NewBanks(2, 0.999, exposure)
		other.Copy(kept)
		for _, copied := range []*Banks{kept, other} {
			if !reflect.DeepEqual(copied.banks, got.banks) || !reflect.DeepEqual(copied.Found, got.Found) || copied.Transitions != got.Transitions || copied.Seconds != got.Seconds {
				t.Errorf("exposure %v: the copy differs from its original", exposure)
			}
		}
		want.Refresh()
		half.Refresh()
		if !reflect.DeepEqual(half.Found, want.Found) || half.Transitions != want.Transitions || half.Seconds != want.Seconds {
			t.Errorf("exposure %v: found %+v of %g transitions, expected %+v of %g", exposure, half.Found, half.Transitions, want.Found, want.Transitions)
		}
	}
}

// A known drift does not count as diffusion. For a spring of 80/s, whose steps are 0.8 of the displacement, σ² is 1 with the drift, and far from 1 without
// it. 1,000 transitions give σ² to a tenth at r = 0.5; three of these are allowed.
func TestFollowKnowsTheDrift(t *testing.T) {
	const n, decay = 1000, 0.2
	spring := drift.NoCorrection(1)
	spring.Network.Weights[spring.Network.Size()-1] = (decay - 1) / onlinetest.Step
	track, rng, z := NewTrack(1, n), onlinetest.Rand(4), 0.0
	for k := range n {
		track.Add([]float64{z + math.Sqrt(0.5*onlinetest.Step)*rng.NormFloat64()}, onlinetest.Step*min(float64(k), 1))
		z = decay*z + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
	}
	found := func(c *drift.Correction) float64 {
		b := NewBanks(1, 1, 0)
		b.Follow(track, 0, n, drift.NewField(nil, c), drift.NewTangent(1))
		b.Refresh()
		return b.Found[0].V
	}
	if v := found(spring); math.Abs(v-1) > 0.3 {
		t.Errorf("σ² is %.2f with the drift, expected 1", v)
	}
	if v := found(drift.NoCorrection(1)); v > 0.7 {
		t.Errorf("σ² is %.2f without the drift, expected far less than 1: noise and spring look alike", v)
	}
}
