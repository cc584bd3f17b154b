package objects

import (
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

// TestLoop plays a film repeatedly. At each seam every object jumps, by about 7 px. After all rounds, the law of all objects is as close to the truth as
// after one. No alarm begins, no object is followed twice, and a seam adds at most one birth per object.
func TestLoop(t *testing.T) {
	const rounds, frames = 8, 100
	for _, back := range []bool{false, true} { // the next round starts at the first frame, or runs backwards
		d := newDish(7)
		film := make([]latent.Sight, frames)
		for i := range film {
			film[i].Copy(d.next())
		}
		e, dst := newEstimator(t, Config{}), &latent.Estimate{}
		var first, last float64
		most := 0
		for i := range rounds * frames {
			k := i % frames
			if back && i/frames%2 == 1 {
				k = frames - 1 - k
			}
			z := &film[k]
			z.Seq, z.Time = uint64(i), time.Unix(1000, 0).Add(time.Duration(float64(i)*dt*1e9))
			if _, err := e.Update(dst, z); err != nil {
				t.Fatal(err)
			}
			if most = max(most, len(dst.Objects.ID)); len(e.Alarms()) > 0 {
				t.Errorf("backwards %v, frame %d: %v", back, i, e.Alarms())
			}
			if law := e.law.learner.Law(); law != nil {
				if last = law.Mixture.D.Value; i < frames {
					first = last
				}
			}
		}
		if n := len(d.at); e.known.births > uint64(n*rounds) || most > 2*n || len(dst.Objects.ID) > n+5 {
			t.Errorf("backwards %v: %d objects, %d born in %d rounds, %d at once, %d at the end", back, n, e.known.births, rounds, most, len(dst.Objects.ID))
		}
		if truth := sigma * sigma / (2 * dt); !(math.Abs(first/truth-1) < 0.1 && math.Abs(last/truth-1) < 0.1) {
			t.Errorf("backwards %v: D %.2f px²/s in the first round, %.2f in the last, expected %.2f", back, first, last, truth)
		}
	}
}
