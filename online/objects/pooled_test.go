package objects

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/maps"
	"driftscope/online/pooled"
)

// TestLawOfAll runs 36 objects, half of them with a tenth of the D of the others. It verifies two states with the right D, the state of each object, the kind
// of motion of ended objects, and a map without traps and flow.
func TestLawOfAll(t *testing.T) {
	suite.Calculation(t)
	e, d, dst := newEstimator(t, Config{PixelUM: 0.5}), newDish(6), &latent.Estimate{}
	d.fast = 1 / math.Sqrt(10)
	reports := of[*latent.Population](run(t, e, d, 300, dst))
	l := reports[len(reports)-1].Law
	if l == nil || len(l.States) != 2 || len(l.Rates) != 4 || l.Seq == 0 || l.Steps < 1000 {
		t.Fatalf("law %+v", l)
	}
	for j, truth := range []float64{sigma * sigma / 2 / dt / 10, sigma * sigma / 2 / dt} {
		s := l.States[j]
		if math.Abs(math.Log(s.Px.D/truth)) > 0.25 || math.Abs(s.Share.Value-0.5) > 0.15 || math.Abs(s.UM.D/s.Px.D-0.25) > 1e-12 { // 2,000 steps and a common drift give D to 5 %
			t.Errorf("state %d: %+v, expected D %g px²/s and a share of 0.5", j, s, truth)
		}
	}
	if l.Nats > 25 || !strings.HasPrefix(l.Says, "2 states") || !strings.Contains(l.Says, "µm²/s") || !strings.Contains(l.Says, "no evidence of switching") {
		t.Errorf("found %.1f nats for switching and the text %q", l.Nats, l.Says)
	}
	o := dst.Objects
	if o.States != 2 || len(o.State) != 2*len(o.ID) {
		t.Fatalf("%d states, %d probabilities for %d objects", o.States, len(o.State), len(o.ID))
	}
	right := 0
	for i, id := range o.ID {
		if fast := o.State[2*i+1] > 0.5; fast == (id%2 == 1) { // spots are in the order of objects, numbered from 1
			right++
		}
	}
	if right < 35 {
		t.Errorf("%d of 36 objects are in their state", right)
	}
	ended := e.Last()
	last := of[*latent.Population](ended)[0]
	if last.Map == nil || len(last.Map.X) == 0 || len(last.Map.Says) != 0 || last.Law.Steps < 36*299*9/10 || // one object in a hundred seems directed by chance
		math.Abs(sum(last.Spectrum)-1) > 1e-9 {
		t.Errorf("at the end the law uses %d steps, and the map names %v", last.Law.Steps, last.Map)
	}
	free := 0
	for _, k := range of[*latent.Track](ended) {
		if k.Motion == nil || len(k.State) != 2 || k.Shrunk.D <= 0 || !(k.Motion.Alpha.Low < k.Motion.Alpha.High) {
			t.Fatalf("ended: %+v", k)
		}
		if k.Motion.Class == "free" {
			free++
		}
	}
	if free < 27 { // expected: nine of ten
		t.Errorf("%d of 36 freely diffusing objects are classified as free", free)
	}
}

// TestSwitches runs 36 objects that switch between two D. It verifies that the law reports switching with its rates, and that most objects are in their
// state.
func TestSwitches(t *testing.T) {
	suite.Calculation(t)
	e, d, dst := newEstimator(t, Config{}), newDish(6), &latent.Estimate{}
	d.fast, d.turns = 1/math.Sqrt(10), 0.04
	reports := of[*latent.Population](run(t, e, d, 150, dst))
	l := reports[len(reports)-1].Law
	if l == nil || len(l.States) != 2 || len(l.Rates) != 4 || l.Nats < 25 || !strings.HasPrefix(l.Says, "2 states, and objects switch between them") {
		t.Fatalf("law %+v", l)
	}
	for _, rate := range []float64{l.Rates[1], l.Rates[2]} {
		if rate < 0.5*d.turns/dt || rate > 2*d.turns/dt { // about 200 switches give the rate to 7 %; brief visits stay unseen
			t.Errorf("rates %v, expected %g /s", l.Rates, d.turns/dt)
		}
	}
	o, right := dst.Objects, 0
	for i, id := range o.ID {
		if slow := o.State[2*i] > 0.5; slow == d.odd[id-1] { // spots are in the order of objects, numbered from 1
			right++
		}
	}
	if o.States != 2 || right < 27 { // a state lasts 25 frames and shows after about three
		t.Errorf("%d of 36 objects are in their state", right)
	}
	for _, k := range of[*latent.Track](e.Last()) {
		if len(k.State) != 2 || math.Abs(k.State[0]+k.State[1]-1) > 1e-9 || k.Motion == nil {
			t.Fatalf("ended: %+v", k)
		}
	}
}

// TestRunsAreNoDiffusion verifies that running objects among diffusing objects are reported, have no state, and do not change the law of the others.
func TestRunsAreNoDiffusion(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(5), &latent.Estimate{}
	const speed = 3 // px/frame, six times a diffusive step; an object crosses the field in a hundred frames
	for range 60 {
		for i := 0; i < 20; i += 5 { // two to the right and two to the left: no net motion
			d.at[i][0] += speed * float64(1-i/5%2*2)
		}
		run(t, e, d, 1, dst)
	}
	ended := e.Last()
	last := of[*latent.Population](ended)[0]
	if last.DirectedN != 4 || last.Law == nil || len(last.Law.States) != 1 || math.Abs(last.Px.D/6.25-1) > 0.15 { // 1,000 steps give D to 4 %; the first steps of runs count as stray
		t.Errorf("%d objects run, D %.2f, law %+v", last.DirectedN, last.Px.D, last.Law)
	}
	for _, k := range of[*latent.Track](ended) {
		if k.Runs && (k.Motion == nil || k.Motion.Class != "directed" || math.Abs(k.Motion.Speed*dt/speed-1) > 0.1) {
			t.Errorf("found the motion %+v of a running object", k.Motion)
		}
	}
}

func sum(v []float64) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

// TestBare verifies that nothing is reported about a law of all objects if none is learnt.
func TestBare(t *testing.T) {
	e, d, dst := newEstimator(t, Config{Bare: true}), newDish(3), &latent.Estimate{}
	run(t, e, d, 60, dst)
	for _, m := range e.Last() {
		switch m := m.(type) {
		case *latent.Population:
			if m.Law != nil || m.Map != nil || !math.IsNaN(m.Px.D) || m.Steps != 9*59 {
				t.Errorf("%+v", m)
			}
		case *latent.Track:
			if m.Motion != nil || m.State != nil {
				t.Errorf("%+v", m)
			}
		}
	}
	var saved bytes.Buffer
	if err := e.Save(&saved); err != nil {
		t.Fatal(err)
	}
	if err := newEstimator(t, Config{}).Restore(&saved); err == nil {
		t.Error("an estimator with a law of all objects accepted a checkpoint without one")
	}
	if _, err := New(Config{Depth: -1}); err == nil {
		t.Error("a negative focal depth was accepted")
	}
}

// TestPairs verifies that objects far apart show no force, and that forces are measured only on request.
func TestPairs(t *testing.T) {
	suite.Calculation(t)
	for _, asked := range []bool{false, true} {
		e, d, dst := newEstimator(t, Config{Pairs: asked}), newDish(20), &latent.Estimate{}
		reports := of[*latent.Population](run(t, e, d, 75, dst))
		p := reports[len(reports)-1].Pairs
		if (p != nil) != asked {
			t.Fatalf("forces requested: %v, found %+v", asked, p)
		}
		if asked && (len(p.Distance) == 0 || len(p.Force) != len(p.Distance) || p.Nats > 3) {
			t.Errorf("free objects: %.1f nats of evidence for a force, %d distances", p.Nats, len(p.Distance))
		}
		e.Reset()
		if run(t, e, d, 2, dst); e.pairs.force() != nil && !asked {
			t.Error("a force was measured without a request")
		}
	}
}

// TestMapTold verifies when a map is published: with the first population that has it, again after ten seconds, and at the end. In between only its number is
// published.
func TestMapTold(t *testing.T) {
	e := newEstimator(t, Config{})
	m, err := maps.New(maps.Config{Width: 64, Height: 64})
	if err != nil {
		t.Fatal(err)
	}
	law, begun := &pooled.Law{Seq: 7}, time.Unix(100, 0)
	told := func(at time.Duration, last bool) (named, whole bool) {
		p := &latent.Population{Time: begun.Add(at)}
		e.tellMap(p, law, last)
		return p.MapSeq != nil, p.Map != nil
	}
	if named, whole := told(0, true); named || whole {
		t.Error("a map was published before the first map")
	}
	law.Map = m.Law(nil)
	for i, c := range []struct {
		at          time.Duration
		last, whole bool
	}{{0, false, true}, {time.Second, false, false}, {10 * time.Second, false, true}, {11 * time.Second, false, false}, {12 * time.Second, true, true},
		{5 * time.Second, false, true}} { // a new film with earlier times
		if named, whole := told(c.at, c.last); !named || whole != c.whole {
			t.Errorf("%d: number published %v, cells published %v; expected %v", i, named, whole, c.whole)
		}
	}
	law = &pooled.Law{Seq: 8, Map: m.Law(nil)}
	if _, whole := told(6*time.Second, false); !whole {
		t.Error("a new map was not published")
	}
}
