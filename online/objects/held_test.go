package objects

import (
	"fmt"
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/tracks"
)

// TestLag verifies for every lag that each frame of two films is published once and in order, the last frames at the end of the run. Objects have the
// positions and the time of their frame: within 6 sds, and the stage moves by this distance per frame. Together with earlier positions they cover every
// position once. The latents of the followed object have the same delay.
func TestLag(t *testing.T) {
	const films, frames, rows = 2, 60, 4
	for _, lag := range []int{0, 1, tracks.MostLag} {
		e, d := newEstimator(t, Config{Lag: lag}), newDish(rows)
		d.stage = 0.6
		truth, places, latents := map[uint64][]latent.Spot{}, map[string]int{}, 0
		next := uint64(0)
		check := func(m *latent.Estimate) {
			l, o := &m.Latent, m.Objects
			if l.Seq != next || l.Time != time.Unix(1000, 0).Add(time.Duration(float64(next)*dt*1e9)) || l.Arrived != l.Time {
				t.Fatalf("lag %d: frame %d of %v, expected frame %d", lag, l.Seq, l.Time, next)
			}
			next++
			if n := len(o.ID); next > 5 && next < frames && n != rows*rows {
				t.Errorf("lag %d, frame %d: %d objects", lag, l.Seq, n)
			}
			for i := range o.ID {
				if !near(truth[l.Seq], o.X[i], o.Y[i]) {
					t.Errorf("lag %d, frame %d: no spot is near %.2f, %.2f", lag, l.Seq, o.X[i], o.Y[i])
				}
				if o.Here(i) {
					places[fmt.Sprint(o.ID[i], l.Seq)]++
				}
			}
			for _, p := range o.Earlier {
				places[fmt.Sprint(p.ID, p.Seq)]++
			}
			if len(l.Mean) > 0 {
				latents++
				if !near(truth[l.Seq], l.Mean[0], l.Mean[1]) {
					t.Errorf("lag %d, frame %d: no spot is near the latent %v", lag, l.Seq, l.Mean)
				}
			}
		}
		dst := &latent.Estimate{}
		for film := range films {
			for f := range frames {
				z := d.next()
				z.Trajectory, z.Arrived = uint64(film), z.Time
				truth[z.Seq] = append([]latent.Spot(nil), z.Spots.Found...)
				told, err := e.Update(dst, z)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range of[*latent.Estimate](e.Reports()) {
					check(m)
				}
				if told != (f >= lag) {
					t.Fatalf("lag %d, frame %d of film %d: published is %v", lag, f, film, told)
				}
				if told {
					check(dst)
				}
				if f == 19 {
					if err := e.Follow(dst.Objects.ID[0]); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for _, m := range of[*latent.Estimate](e.Last()) {
			check(m)
		}
		if next != films*frames || len(places) != films*frames*rows*rows {
			t.Errorf("lag %d: %d frames, %d positions", lag, next, len(places))
		}
		for at, n := range places {
			if n != 1 {
				t.Errorf("lag %d: %s was published %d times", lag, at, n)
			}
		}
		if want := films * (frames - 20 + lag); latents != want {
			t.Errorf("lag %d: %d latents of the followed object, expected %d", lag, latents, want)
		}
	}
	if _, err := New(Config{Lag: tracks.MostLag + 1}); err == nil {
		t.Error("a lag above tracks.MostLag was accepted")
	}
}

// near reports whether a spot is near a position.
func near(spots []latent.Spot, x, y float64) bool {
	for _, s := range spots {
		if math.Hypot(s.X-x, s.Y-y) < 0.6 {
			return true
		}
	}
	return false
}
