package objects

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

// TestPace verifies that jitter, gaps in the frame numbers and a new frame rate count as no loss of frames, except for a few frames before the new rate is
// known. A camera that is disconnected for 10 s at 50 frames/s has lost 500 frames, to the error of the mean interval.
func TestPace(t *testing.T) {
	const interval = 0.02
	for name, c := range map[string]struct {
		step, jitter float64 // s
		numbers      uint64  // increment of the frame number
		away         float64 // pause before frame 200, s
		lost, within int     // lost frames, and tolerance
		settles      int     // number of frames from 100 on that are ignored
	}{
		"even":         {step: interval, numbers: 1},
		"jitter":       {step: interval, jitter: 0.004, numbers: 1},
		"every fifth":  {step: 5 * interval, numbers: 5},
		"away":         {step: interval, numbers: 1, away: 10, lost: 500, within: 5},
		"away, jitter": {step: interval, jitter: 0.004, numbers: 1, away: 10, lost: 500, within: 75}, // 1/15 by the mean of ten intervals
		"slower":       {step: 8 * interval, numbers: 1, settles: 40},                                // 1.05ⁿ = 8/1.5: 34
	} {
		rng, p := rand.New(rand.NewPCG(27, 28)), pace{}
		seq, seconds, lost := uint64(0), 0.0, 0
		for f := range 300 {
			step := c.step
			if name == "slower" && f < 100 {
				step = interval
			}
			seq, seconds = seq+c.numbers, seconds+step
			if f == 200 {
				seconds += c.away
			}
			at := seconds + c.jitter*(rng.Float64()-0.5)
			n := p.lost(&latent.Sight{Head: latent.Head{Seq: seq, Time: time.Unix(0, int64(at*1e9))}})
			if f < 100 || f >= 100+c.settles {
				lost += n
			}
		}
		if math.Abs(float64(lost-c.lost)) > float64(c.within) {
			t.Errorf("%s: found %d lost frames, expected %d", name, lost, c.lost)
		}
	}
}

// TestLostCamera verifies that objects keep their numbers over 6 s without a camera. The frame numbers continue without a gap, and the objects move by about
// 9 px, but the nearest other object is 67 px away. No step of their laws spans a pause longer than MaxGap.
func TestLostCamera(t *testing.T) {
	const away = 300 // frames
	for _, lag := range []int{0, 3} {
		e, d, dst := newEstimator(t, Config{Lag: lag, MaxGap: time.Second}), newDish(5), &latent.Estimate{}
		reports := run(t, e, d, 100, dst)
		for range away - 1 {
			d.next()
		}
		for range 25 {
			z := d.next()
			z.Seq -= away - 1
			if _, err := e.Update(dst, z); err != nil {
				t.Fatal(err)
			}
			reports = append(reports, e.Reports()...)
		}
		reports = append(reports, e.Last()...)
		born, ended := 0, 0
		for _, k := range of[*latent.Track](reports) {
			switch {
			case k.Change == latent.Born:
				born++
			case k.Why != latent.RunEnded:
				t.Errorf("lag %d: object %d ended: %s", lag, k.ID, k.Why)
			case k.Frames != 125 || k.Last != 124:
				t.Errorf("lag %d: %+v", lag, k)
			default:
				ended++
			}
		}
		if born != 25 || ended != 25 {
			t.Errorf("lag %d: %d born, %d at the end", lag, born, ended)
		}
		all := of[*latent.Population](reports)
		if p := all[len(all)-1]; p.Steps != 25*(99+24) || p.Px.Low > 6.25 || p.Px.High < 6.25 {
			t.Errorf("lag %d: %+v", lag, p)
		}
	}
}
