package objects

import (
	"runtime"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
)

// TestCrowd verifies that the time per object and frame with 5,000 objects is at most three times the time with 484; small caches cause the difference. Work
// beyond the budget is counted: steps not tested for a change, and ends without a verdict if all objects end at once.
func TestCrowd(t *testing.T) {
	suite.Calculation(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	each := func(rows, frames int) (float64, *Estimator, *dish) {
		e, d, dst := newEstimator(t, Config{}), newDish(rows), &latent.Estimate{}
		var took time.Duration
		for i := range frames {
			z := spread(d.next())
			began := processedHere()
			if _, err := e.Update(dst, z); err != nil {
				t.Fatal(err)
			}
			if i >= frames/2 {
				took += processedHere() - began
			}
		}
		if n := len(d.at); len(dst.Objects.ID) < n*9/10 || len(dst.Objects.ID) > n*11/10 {
			t.Errorf("%d of %d objects are followed", len(dst.Objects.ID), n)
		}
		return took.Seconds() / float64(frames/2*len(d.at)), e, d
	}
	few, _, _ := each(22, 40)
	many, e, d := each(71, 40)
	if many > 3*few {
		t.Errorf("%.2g s per frame and object with 5,041 objects, %.2g with 484", many, few)
	}
	if p := e.population(false); p.Law == nil || p.Unweighed == 0 {
		t.Errorf("found a law: %v, and %d steps not tested for a change, expected a law and some steps", p.Law != nil, p.Unweighed)
	}
	for i := range d.at {
		d.gone[i] = true
	}
	dst := &latent.Estimate{}
	var reports []latent.Message
	for range 30 + 2*patient {
		if _, err := e.Update(dst, spread(d.next())); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, e.Reports()...)
	}
	p, ended := e.population(false), ends(reports)
	told := judgedOf(ended) + p.Unjudged // an object with fewer than ten positions has no kind of motion, but is not counted as unjudged
	if n := uint64(len(ended)); n < 4500 || p.Unjudged < n-mostWaiting || told > p.Deaths || told < p.Deaths*99/100 {
		t.Errorf("%d ended, %d with a verdict, %d counted without one", n, judgedOf(ended), p.Unjudged)
	}
}

// spread makes the frame four times as wide, with room for thousands of objects.
func spread(z *latent.Sight) *latent.Sight {
	s := &z.Spots
	s.Width, s.Height = 4*side, 4*side
	for i := range s.Found {
		f := &s.Found[i]
		f.X, f.Y, f.VarX, f.VarY = 4*f.X, 4*f.Y, 16*f.VarX, 16*f.VarY
	}
	return z
}
