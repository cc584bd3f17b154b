package natsink

import (
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

// TestStopped: a stopped worker publishes an event about its last frame before the results of earlier frames, and never publishes these results. The next
// worker makes them.
func TestStopped(t *testing.T) {
	at, folder := keeper(t).URL(), t.TempDir()
	first := takes(t, at, folder+"/1", 5)
	first.must(0, 20)
	lost := &latent.Event{Seq: 25, Time: time.Now(), Level: latent.Warning, Code: "lost", Text: "the run ended first", Count: 1}
	if err := first.sink.Write(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	first.must(20, 22)
	first.ends()
	second := takes(t, at, folder+"/2", 9)
	if want := (At{Sequence: 66, Frames: 22}); second.at != want {
		t.Errorf("found %+v, expected %+v", second.at, want)
	}
	taken := &latent.Event{Seq: 12, Time: time.Now(), Level: latent.Info, Code: TakenOver, Text: "taken over", Count: 1}
	if err := second.sink.Write(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	second.must(12, 40)
	second.ends()
	third := takes(t, at, folder+"/3", 12)
	third.must(30, 50)
	third.ends()
	audit(t, at, 50)
}

// TestStandingHas: has returns true for all records of a kind up to the last stored one.
func TestStandingHas(t *testing.T) {
	s := Standing{At: At{Frames: 5}}
	s.ends[0] = ending{true, 4, 1} // latents
	s.ends[2] = ending{true, 9, 2} // laws
	for _, c := range []struct {
		kind   latent.Kind
		frame  uint64
		number uint32
		want   bool
	}{
		{latent.KindLatent, 3, 0, true}, {latent.KindLatent, 4, 0, true}, {latent.KindLatent, 5, 0, false}, {latent.KindObjects, 3, 0, false},
		{latent.KindSDE, 8, 7, true}, {latent.KindSDE, 9, 1, true}, {latent.KindSDE, 9, 2, false}, {latent.KindSDE, 10, 0, false}, {latent.KindEvent, 3, 0, true}, {latent.KindEvent, 4, 0, false},
	} {
		if got := s.has(c.kind, c.frame, c.number); got != c.want {
			t.Errorf("%s %d of frame %d: found %t, expected %t", c.kind, c.number, c.frame, got, c.want)
		}
	}
}

// TestBehind: a frame whose objects are stored but not its latents is made again. Latents from before a stream tracked objects are ignored.
func TestBehind(t *testing.T) {
	for want, results := range map[uint64][]uint64{0: {}, 7: {7}, 8: {8, 8}, 9: {9, 10}, 11: {12, 11}, 50: {3, 50}, 60: {60, 4}} {
		var all []At
		for _, frames := range results {
			all = append(all, At{Frames: frames})
		}
		if got := behind(all).Frames; got != want {
			t.Errorf("%v: found %d, expected %d", results, got, want)
		}
	}
}
