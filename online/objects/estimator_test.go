package objects

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online"
)

const (
	side  = 400
	dt    = 0.02
	sigma = 0.5 // px per step and axis: D = 6.25 px²/s
)

// dish simulates objects that diffuse far from each other, on a moving stage.
type dish struct {
	rng  *rand.Rand
	at   [][2]float64
	gone map[int]bool
	seq  uint64
	z    latent.Sight

	stage  float64 // px per frame, along x
	faster float64 // factor on the steps of the other objects, unless 0
	fast   float64 // step of every other object, in sigma; 0 means 1
	turns  float64 // probability per frame that an object switches between these two steps; 0: never
	odd    []bool  // objects that now have the fast step; used only if turns is not 0
}

func newDish(rows int) *dish {
	d := &dish{rng: rand.New(rand.NewPCG(1, 1)), gone: map[int]bool{}}
	for i := range rows * rows {
		d.at = append(d.at, [2]float64{(float64(i%rows) + 1) * side / float64(rows+1), (float64(i/rows) + 1) * side / float64(rows+1)})
	}
	return d
}

// next moves the objects and returns the spots of the next frame in reused memory.
func (d *dish) next() *latent.Sight {
	z := &d.z
	z.Head = latent.Head{}
	z.Spots.Reset()
	z.Seq, z.Time = d.seq, time.Unix(1000, 0).Add(time.Duration(float64(d.seq)*dt*1e9))
	z.Spots.Width, z.Spots.Height, z.Spots.Template = side, side, 1.5
	for i := range d.at {
		p := &d.at[i]
		sd := sigma
		if d.faster > 0 && i%2 == 0 {
			sd *= d.faster
		}
		other := i%2 == 1
		if d.turns > 0 {
			if d.odd == nil {
				d.odd = make([]bool, len(d.at))
			}
			d.odd[i] = d.odd[i] != (d.rng.Float64() < d.turns)
			other = d.odd[i]
		}
		if d.fast > 0 && other {
			sd *= d.fast
		}
		p[0], p[1] = p[0]+d.stage+sd*d.rng.NormFloat64(), p[1]+sd*d.rng.NormFloat64()
		if d.gone[i] {
			continue
		}
		const noise = 0.1
		z.Spots.Found = append(z.Spots.Found, latent.Spot{X: p[0] + noise*d.rng.NormFloat64(), Y: p[1] + noise*d.rng.NormFloat64(), VarX: noise * noise, VarY: noise * noise,
			Amplitude: 100, Score: 12 + d.rng.NormFloat64()})
	}
	d.seq++
	return z
}

func newEstimator(t testing.TB, c Config) *Estimator {
	t.Helper()
	c.Follow.Seed, c.Follow.Deterministic = 1, true
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// run processes frames, and returns the reports.
func run(t testing.TB, e *Estimator, d *dish, frames int, dst *latent.Estimate) (reports []latent.Message) {
	t.Helper()
	for range frames {
		if _, err := e.Update(dst, d.next()); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, e.Reports()...)
	}
	return reports
}

// of returns the reports of one kind.
func of[T latent.Message](reports []latent.Message) (found []T) {
	for _, r := range reports {
		if m, ok := r.(T); ok {
			found = append(found, m)
		}
	}
	return found
}

// TestField verifies that 25 objects keep their numbers for 200 frames, that the interval of their mean D contains the truth and is as narrow as 5000 steps
// allow, and that the final report adds up.
func TestField(t *testing.T) {
	e, d, dst := newEstimator(t, Config{PixelUM: 0.5}), newDish(5), &latent.Estimate{}
	reports := run(t, e, d, 200, dst)
	o := dst.Objects
	if len(o.ID) != 25 || o.Width != side || o.PixelUM != 0.5 || len(dst.Latent.Mean) != 0 {
		t.Fatalf("%d objects in a field of %d px, a latent %v", len(o.ID), o.Width, dst.Latent.Mean)
	}
	for i := range o.ID {
		if o.ID[i] > 25 || o.Marks[i] != 0 || !(o.SD[i] > 0.01 && o.SD[i] < 0.2) || !(o.D[i] > 3 && o.D[i] < 11) { // 199 steps give D = 6.25 to 15 %
			t.Errorf("object %d: marks %d, sd %.3f px, D %.2f px²/s", o.ID[i], o.Marks[i], o.SD[i], o.D[i])
		}
	}
	last := of[*latent.Population](reports)[7]
	truth := sigma * sigma / 2 / dt
	if last.Count != 25 || last.Births != 25 || last.Deaths != 0 || last.Px.Low > truth || last.Px.High < truth || last.Px.High-last.Px.Low > 1.5 {
		t.Errorf("%+v", last)
	}
	if math.Abs(last.UM.D/last.Px.D-0.25) > 1e-12 || math.Abs(last.PerPixel*side*side-25) > 1e-9 || math.Abs(last.PerUM*4/last.PerPixel-1) < 0.5 || math.Abs(last.Noise-0.1) > 0.05 {
		t.Errorf("%+v", last)
	}
	born, ended := of[*latent.Track](reports), of[*latent.Track](e.Last())
	if len(born) != 25 || len(ended) != 25 {
		t.Fatalf("%d born, %d ended", len(born), len(ended))
	}
	for i, k := range ended {
		if born[i].Change != latent.Born || k.Change != latent.Ended || k.Why != latent.RunEnded || k.Frames != 200 || k.First != 0 || k.Last != 199 || k.Runs {
			t.Errorf("%+v, born %+v", k, born[i])
		}
	}
}

// TestEarlier verifies that the positions of an object before its confirmation and in gaps are published once known. Together, all positions cover every
// frame once.
func TestEarlier(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(2), &latent.Estimate{}
	seen := map[string]int{}
	filled := 0
	for frame := range 30 {
		d.gone[0] = frame == 10
		run(t, e, d, 1, dst)
		for i := range dst.Objects.ID {
			if dst.Objects.Here(i) {
				seen[fmt.Sprint(dst.Objects.ID[i], dst.Latent.Seq)]++
			}
		}
		for _, p := range dst.Objects.Earlier {
			seen[fmt.Sprint(p.ID, p.Seq)]++
			if p.Filled {
				filled++
			}
		}
	}
	if len(seen) != 4*30 || filled != 1 {
		t.Errorf("%d positions, %d of them filled, expected 120 and 1", len(seen), filled)
	}
	for at, n := range seen {
		if n != 1 {
			t.Errorf("%s was published %d times", at, n)
		}
	}
}

// TestEnds verifies that a vanished object is lost, that an object beyond the edge left the field, and that no number is reused.
func TestEnds(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(3), &latent.Estimate{}
	run(t, e, d, 30, dst)
	d.gone[4] = true // vanishes in the middle of the field
	d.at[0] = [2]float64{1, 200}
	reports := run(t, e, d, 5, dst) // object 1 jumps to the edge and counts as a new object
	d.gone[0] = true
	reports = append(reports, run(t, e, d, 40, dst)...)
	d.gone[4] = false
	reports = append(reports, run(t, e, d, 30, dst)...)
	why, born := map[string]int{}, map[uint64]int{}
	for _, k := range of[*latent.Track](reports) {
		if k.Change == latent.Ended {
			why[k.Why]++
		} else {
			born[k.ID]++
		}
	}
	if why[latent.Lost] != 2 || why[latent.LeftField] != 1 || len(born) != 2 {
		t.Errorf("ends %v, births %v", why, born)
	}
	for id := range born {
		if id <= 9 || born[id] != 1 {
			t.Errorf("the number %d is reused", id)
		}
	}
}

// TestFollow verifies that the positions of one object are published as latents with their own law. Following a different object starts a new trajectory, and
// the end of the followed object is reported.
func TestFollow(t *testing.T) {
	e, d, dst := newEstimator(t, Config{Follow: online.Config{AlarmFrames: 1e5}}), newDish(3), &latent.Estimate{}
	run(t, e, d, 10, dst)
	var refused *latent.Refusal
	if err := e.Follow(99); !errors.As(err, &refused) || refused.Code != latent.Unknown {
		t.Errorf("follow with an unknown number: %v", err)
	}
	if err := e.Follow(5); err != nil {
		t.Fatal(err)
	}
	run(t, e, d, 300, dst)
	l := dst.Latent
	if len(l.Mean) != Dim || math.Hypot(l.Mean[0]-d.at[4][0], l.Mean[1]-d.at[4][1]) > 0.6 || dst.SDE.Transitions < 290 {
		t.Fatalf("latent %v, the object is at %v; %d transitions", l.Mean, d.at[4], dst.SDE.Transitions)
	}
	if s := dst.SDE.Sigma[0]; math.Abs(s-sigma/math.Sqrt(dt)) > 0.6 { // 300 steps give σ = 3.54 px/√s to 5 %
		t.Errorf("σ %.2f px/√s", s)
	}
	marked := 0
	for i, m := range dst.Objects.Marks {
		if m&latent.Followed != 0 && dst.Objects.ID[i] == 5 {
			marked++
		}
	}
	if marked != 1 {
		t.Errorf("%d objects are marked as followed", marked)
	}
	before := l.Trajectory
	if err := e.Follow(1); err != nil {
		t.Fatal(err)
	}
	run(t, e, d, 20, dst)
	if dst.Latent.Trajectory == before || dst.SDE.Transitions > 20 {
		t.Errorf("found trajectory %d after %d, with %d transitions", dst.Latent.Trajectory, before, dst.SDE.Transitions)
	}
	d.gone[0] = true
	told := of[*latent.Event](run(t, e, d, 60, dst))
	if len(told) != 1 || told[0].Code != "followed_object_ended" || len(dst.Latent.Mean) != 0 {
		t.Errorf("%v; latent %v", told, dst.Latent.Mean)
	}
	if err := e.Follow(0); err != nil {
		t.Error(err)
	}
}

// TestCommonMotion verifies that a stage velocity of 0.4 px/frame, 20 px/s, is measured to 2.5 px/s: 25 objects with steps of 0.5 px give it to 0.7 px/s in
// 50 frames. The stage's motion does not count as diffusion, and the shift adds up. A stage at rest shows no motion.
func TestCommonMotion(t *testing.T) {
	for _, stage := range []float64{0, 0.4} {
		e, d, dst := newEstimator(t, Config{}), newDish(5), &latent.Estimate{}
		d.stage = stage
		reports := run(t, e, d, 150, dst)
		p := of[*latent.Population](reports)[5]
		if math.Abs(p.CommonX-stage/dt) > 2.5 || math.Abs(p.CommonY) > 2.5 || math.Abs(p.ShiftX-150*stage) > 8 {
			t.Errorf("stage %g: %+v", stage, p)
		}
		if truth := sigma * sigma / 2 / dt; p.Px.Low > truth || p.Px.High < truth {
			t.Errorf("stage %g: D %+v, expected %g", stage, p.Px, truth)
		}
	}
}

// TestAlarms verifies the events at the start and end of the alarms for an empty field and for too many spots.
func TestAlarms(t *testing.T) {
	e, dst := newEstimator(t, Config{}), &latent.Estimate{}
	frame := func(seq uint64, found, left int) {
		z := &latent.Sight{Head: latent.Head{Seq: seq, Time: time.Unix(0, int64(seq)*1e7)}}
		z.Spots.Width, z.Spots.Height, z.Spots.Left = side, side, left
		if seq > 40 {
			z.Spots.Template = 1.5
		}
		for i := range found {
			z.Spots.Found = append(z.Spots.Found, latent.Spot{X: 50 * float64(i+1), Y: 100, VarX: 0.01, VarY: 0.01, Score: 12})
		}
		if _, err := e.Update(dst, z); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for seq := range uint64(160) {
		found, left := 0, 0
		if seq > 60 {
			found = 3
		}
		if seq == 100 {
			left = 7
		}
		frame(seq, found, left)
		for _, a := range e.Alarms() {
			told = append(told, fmt.Sprint(a.Seq, " ", a.Code, " ", a.Level))
		}
		if on := strings.Join(dst.Alarms, ","); seq == 50 && on != latent.NoObjects || seq == 101 && on != latent.TooManyObjects || seq == 159 && on != "" {
			t.Errorf("frame %d: %q is on", seq, on)
		}
	}
	if want := "[24 no_objects warning 85 no_objects info 100 too_many_objects warning 125 too_many_objects info]"; fmt.Sprint(told) != want {
		t.Errorf("found events %v, expected %s", told, want)
	}
}

// TestUncertainLinks verifies the alarm and the figures for 40 objects that nearly touch and jump by their distance in every frame. Objects that hardly move
// raise no alarm.
func TestUncertainLinks(t *testing.T) {
	for sd, alarm := range map[float64]bool{0.3: false, 6: true} {
		e, dst, rng := newEstimator(t, Config{}), &latent.Estimate{}, rand.New(rand.NewPCG(61, 62))
		at := make([][2]float64, 40)
		for i := range at {
			at[i] = [2]float64{100 + 12*float64(i%8), 100 + 12*float64(i/8)}
		}
		begun, reports := 0, []*latent.Population{}
		for seq := range uint64(200) {
			z := &latent.Sight{Head: latent.Head{Seq: seq, Time: time.Unix(0, int64(seq)*2e7)}}
			z.Spots.Width, z.Spots.Height, z.Spots.Template = side, side, 1.5
			for i := range at {
				z.Spots.Found = append(z.Spots.Found, latent.Spot{X: at[i][0] + sd*rng.NormFloat64(), Y: at[i][1] + sd*rng.NormFloat64(), VarX: 0.01, VarY: 0.01, Score: 12})
			}
			if _, err := e.Update(dst, z); err != nil {
				t.Fatal(err)
			}
			if len(dst.Objects.Link) != len(dst.Objects.ID) {
				t.Fatalf("%d link probabilities for %d objects", len(dst.Objects.Link), len(dst.Objects.ID))
			}
			for _, a := range e.Alarms() {
				if a.Code == latent.LinksUncertain && a.Level == latent.Warning {
					begun++
					if last := reports[len(reports)-1]; last.Unlinked < 0.5 && !strings.Contains(a.Text, "at 100 frames/s instead of 50") {
						t.Errorf("%s", a.Text)
					}
				}
			}
			reports = append(reports, of[*latent.Population](e.Reports())...)
		}
		last := reports[len(reports)-1]
		if (begun > 0) != alarm || (last.Wrong > 0.05 || last.Unlinked > 0.5) != alarm {
			t.Errorf("steps of %g px: %d alarms, %.3f wrong links, %.3f unknown", sd, begun, last.Wrong, last.Unlinked)
		}
		if last.Unlinked < 0.5 && !(last.Faster < last.Wrong && last.Wrong < last.Slower && last.Slower < 1) {
			t.Errorf("steps of %g px: %.3g wrong links, %.3g at twice the frame rate, %.3g at half the rate", sd, last.Wrong, last.Faster, last.Slower)
		}
	}
}

// TestRefused verifies that frames of a different size, without a size or with an earlier time are refused.
func TestRefused(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(2), &latent.Estimate{}
	run(t, e, d, 5, dst)
	z := d.next()
	z.Spots.Width = side + 1
	if _, err := e.Update(dst, z); !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), "401x400") {
		t.Errorf("different size: %v", err)
	}
	z = d.next()
	z.Spots.Width = 0
	if _, err := e.Update(dst, z); err == nil {
		t.Error("a frame without a size was accepted")
	}
	z = d.next()
	z.Time = time.Unix(1000, 0)
	if _, err := e.Update(dst, z); err == nil {
		t.Error("a frame with an earlier time was accepted")
	}
	if run(t, e, d, 5, dst); len(dst.Objects.ID) != 4 {
		t.Errorf("%d objects after the refused frames, expected 4", len(dst.Objects.ID))
	}
	for _, c := range []Config{{Every: -1}, {PixelUM: math.NaN()}, {MaxGap: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestFreezeAndReset verifies that frozen laws stay fixed while objects are followed, and that a reset drops the laws and keeps the objects.
func TestFreezeAndReset(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(3), &latent.Estimate{}
	run(t, e, d, 50, dst)
	e.Freeze(true)
	frozen := of[*latent.Population](run(t, e, d, 50, dst))
	if frozen[0].Steps != frozen[1].Steps || len(dst.Objects.ID) != 9 {
		t.Errorf("%d and %d steps, %d objects", frozen[0].Steps, frozen[1].Steps, len(dst.Objects.ID))
	}
	e.Freeze(false)
	if p := of[*latent.Population](run(t, e, d, 25, dst))[0]; p.Steps != frozen[1].Steps+9*24 { // no step leads to the first frame
		t.Errorf("%d steps after %d", p.Steps, frozen[1].Steps)
	}
	e.Reset()
	if p := of[*latent.Population](run(t, e, d, 25, dst))[0]; p.Steps != 9*24 || p.Births != 9 || dst.Objects.ID[8] != 9 {
		t.Errorf("%+v", p)
	}
}

// written formats a report with the values behind its pointers.
func written(m latent.Message) string {
	switch m := m.(type) {
	case *latent.Population:
		p := *m
		p.Law, p.Map, p.MapSeq = nil, nil, nil // m.Law and m.Map print the values behind these pointers
		return fmt.Sprintf("%+v %+v %+v %v", p, m.Law, m.Map, m.MapSeq != nil)
	case *latent.Track:
		k := *m
		k.Motion = nil
		return fmt.Sprintf("%+v %+v", k, m.Motion)
	}
	return fmt.Sprintf("%+v", m)
}

// TestSameAgain verifies that the same spots give the same estimates, bit for bit.
func TestSameAgain(t *testing.T) {
	var said [2]bytes.Buffer
	for i := range said {
		e, d, dst := newEstimator(t, Config{}), newDish(6), &latent.Estimate{}
		d.stage = 0.1
		for range 100 { // the law of all objects follows after about 30
			for _, r := range run(t, e, d, 1, dst) {
				fmt.Fprintln(&said[i], written(r))
			}
			fmt.Fprintf(&said[i], "%+v\n", dst.Objects)
		}
	}
	if !bytes.Equal(said[0].Bytes(), said[1].Bytes()) {
		t.Error("two runs differ")
	}
}

// TestAllocations verifies that a frame after warm-up, without births and between two populations, allocates nothing. The law of all objects copies the steps
// now and then.
func TestAllocations(t *testing.T) {
	for _, lag := range []int{0, 3} {
		e, d, dst := newEstimator(t, Config{Every: 1 << 30, Lag: lag, Bare: true}), newDish(10), &latent.Estimate{}
		run(t, e, d, 100, dst)
		if n := testing.AllocsPerRun(50, func() { run(t, e, d, 1, dst) }); n > 0 {
			t.Errorf("lag %d: %g allocations per frame of 100 objects", lag, n)
		}
	}
}

// TestLooks verifies that every object has the latents of its own spot, or none if undetected, and that the followed object has them after its position.
func TestLooks(t *testing.T) {
	const looks = 2
	e, d, dst := newEstimator(t, Config{Latents: looks, Follow: online.Config{AlarmFrames: 1e5}}), newDish(3), &latent.Estimate{}
	see := func(frames int) {
		t.Helper()
		for range frames {
			z := d.next()
			z.Spots.Latents = looks
			for _, s := range z.Spots.Found {
				z.Spots.Z, z.Spots.ZSD = append(z.Spots.Z, s.X, -s.Y), append(z.Spots.ZSD, 0.1, 0.2)
			}
			if _, err := e.Update(dst, z); err != nil {
				t.Fatal(err)
			}
			o := dst.Objects
			if len(o.Z) != looks*len(o.ID) || len(o.ZSD) != len(o.Z) || o.Latents != looks {
				t.Fatalf("%d latents and %d sds for %d objects", len(o.Z), len(o.ZSD), len(o.ID))
			}
			for i := range o.ID {
				far := math.Hypot(o.Z[looks*i]-o.X[i], -o.Z[looks*i+1]-o.Y[i]) // distance from the spot to the estimated position; the limit is 5 sds of the noise
				if o.Here(i) != !math.IsNaN(far) || far > 2 {
					t.Fatalf("object %d at (%.1f, %.1f), marks %d, has latents %v", o.ID[i], o.X[i], o.Y[i], o.Marks[i], o.Z[looks*i:][:looks])
				}
			}
		}
	}
	see(10)
	if err := e.Follow(5); err != nil {
		t.Fatal(err)
	}
	d.gone[0] = true // predicted for some frames, then lost
	see(60)
	if l := dst.Latent; len(l.Mean) != Dim+looks || l.Mean[2] != l.Mean[0] || l.Mean[3] != -l.Mean[1] || l.SD[3] != 0.2 || dst.SDE.Transitions < 50 {
		t.Errorf("latent %v ± %v, %d transitions", dst.Latent.Mean, dst.Latent.SD, dst.SDE.Transitions)
	}
	before := dst.Latent.Trajectory
	run(t, e, d, 10, dst) // the model is gone: a new law, of the position only
	if l := dst.Latent; len(l.Mean) != Dim || l.Trajectory == before || dst.SDE.Transitions > 10 || len(dst.Objects.Z) != 0 {
		t.Errorf("latent %v of trajectory %d after trajectory %d, %d transitions", l.Mean, l.Trajectory, before, dst.SDE.Transitions)
	}
	see(10)
	if l := dst.Latent; len(l.Mean) != Dim+looks {
		t.Errorf("after the model is back, latent %v", l.Mean)
	}
}
