package natsink

import (
	"testing"

	"driftscope/internal/latent"
)

// TestStandingHas: a predecessor that was stopped in the middle of its frames told its last law, of frame 9, and no result behind frame 4: those of frames 5 to
// 9 are missing.
func TestStandingHas(t *testing.T) {
	s := Standing{At: At{Sequence: 50, Frames: 5}, told: true}
	s.tally.frame = 9
	s.tally.count(latent.KindSDE, 9)
	for _, c := range []struct {
		kind  latent.Kind
		frame uint64
		want  bool
	}{
		{latent.KindLatent, 4, true}, {latent.KindLatent, 5, false}, {latent.KindObjects, 8, false}, {latent.KindLatent, 9, false}, {latent.KindLatent, 10, false},
		{latent.KindSDE, 8, true}, {latent.KindSDE, 9, true}, {latent.KindSDE, 10, false}, {latent.KindEvent, 9, false},
	} {
		if got := s.has(c.kind, &tally{frame: c.frame}, 0); got != c.want {
			t.Errorf("%s of frame %d: found %t, expected %t", c.kind, c.frame, got, c.want)
		}
	}
}
