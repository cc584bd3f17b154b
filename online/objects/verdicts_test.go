package objects

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/pooled"
)

// ends returns the objects reported as ended.
func ends(reports []latent.Message) (ended []*latent.Track) {
	for _, k := range of[*latent.Track](reports) {
		if k.Change == latent.Ended {
			ended = append(ended, k)
		}
	}
	return ended
}

// judgedOf counts the objects with a verdict.
func judgedOf(ended []*latent.Track) (n uint64) {
	for _, k := range ended {
		if k.Motion != nil || k.State != nil {
			n++
		}
	}
	return n
}

// wipe replaces all objects of a dish and runs frames.
func wipe(t *testing.T, e *Estimator, d *dish, frames int, dst *latent.Estimate) []latent.Message {
	t.Helper()
	for i := range d.at {
		d.gone[i] = true
	}
	reports := run(t, e, d, 30, dst) // no object can come back after about 20
	clear(d.gone)
	return append(reports, run(t, e, d, frames, dst)...)
}

// TestVerdicts verifies that in a recording each ended object has its verdict, at most Lag frames and a job later, under the number of the frame that
// reports it. The same film gives the same messages on one core and on two.
func TestVerdicts(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	before := ""
	for _, cores := range []int{1, 2} {
		runtime.GOMAXPROCS(cores)
		e, d, dst := newEstimator(t, Config{}), newDish(5), &latent.Estimate{}
		reports := run(t, e, d, 60, dst)
		for range 3 {
			reports = append(reports, wipe(t, e, d, 40, dst)...)
		}
		ended := ends(reports)
		if n := judgedOf(ended); len(ended) < 70 || n < uint64(len(ended))*9/10 { // a few objects are visible for fewer than ten frames
			t.Errorf("%d of %d ended objects have a kind of motion", n, len(ended))
		}
		for i, k := range ended {
			if i > 0 && k.Seq < ended[i-1].Seq || k.Seq-k.Last > patient+batchFrames+30 {
				t.Errorf("the end of object %d, last seen in frame %d, is reported in frame %d", k.ID, k.Last, k.Seq)
			}
		}
		reports = append(reports, e.Last()...)
		p := of[*latent.Population](reports)
		if last := p[len(p)-1]; last.Unjudged != 0 || last.Births != uint64(len(ends(reports))) {
			t.Errorf("%d objects were born, %d ended, %d of them without a verdict", last.Births, len(ends(reports)), last.Unjudged)
		}
		all := ""
		for _, k := range ends(reports) {
			all += fmt.Sprintf("%+v %+v\n", k.Motion, latent.Track{Seq: k.Seq, ID: k.ID, Px: k.Px, Shrunk: k.Shrunk, State: k.State})
		}
		if before != "" && before != all {
			t.Error("on two cores the same film gives different verdicts")
		}
		before = all
	}
}

// TestBudget verifies that ends beyond the budget of a recording are reported without a verdict, and counted.
func TestBudget(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(5), &latent.Estimate{}
	e.verdicts.credit = 5
	reports := append(run(t, e, d, 60, dst), wipe(t, e, d, 50, dst)...)
	ended := ends(reports)
	p := of[*latent.Population](reports)
	if n, last := judgedOf(ended), p[len(p)-1]; len(ended) < 25 || n != 5 || last.Unjudged+n != uint64(len(ended)) { // 25 objects earn one verdict in 82 frames
		t.Errorf("%d ended, %d with a verdict, %d counted without one", len(ended), n, last.Unjudged)
	}
	ids := make(map[bool]uint64) // highest number among the objects with and without a verdict
	for _, k := range ended {
		ids[k.Motion != nil] = max(ids[k.Motion != nil], k.ID)
	}
	if ids[true] < 10 {
		t.Errorf("of %d ended objects, only objects up to number %d have a verdict", len(ended), ids[true])
	}
}

// TestMostWaiting ends 1,024 objects in one frame of a live run with a blocked worker. It verifies that the allowed number waits, that all are reported,
// and that ends without a verdict are counted.
func TestMostWaiting(t *testing.T) {
	v := newVerdicts(0, true)
	defer v.close()
	v.law = &pooled.Law{}
	let := make(chan struct{})
	v.worker.Spent = func() time.Duration { <-let; return 0 }
	told := 0
	tell := func(*latent.Track) { told++ }
	for id := range uint64(mostWaiting + 100) {
		k := &ended{track: &latent.Track{ID: id}}
		for i := range fewestJudged {
			k.way.add(spot{float64(i % 3), float64(i), float64(i)})
		}
		if waits := v.add(k, mostWaiting); waits != (id < mostWaiting) {
			t.Fatalf("object %d waits for a verdict: %v", id, waits)
		}
	}
	for range 2*patient + 1 {
		v.pass(0, tell)
	}
	if told != mostWaiting || v.unjudged != mostWaiting+100 || len(v.waiting) != 0 || len(v.spare) != mostSpare {
		t.Errorf("%d reported, %d without a verdict, %d still waiting, %d rings for reuse", told, v.unjudged, len(v.waiting), len(v.spare))
	}
	close(let)
}
