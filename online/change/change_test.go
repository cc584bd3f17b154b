package change

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/pooled"
	"driftscope/online/states"
)

func TestMain(m *testing.M) { os.Exit(suite.Goroutines(m.Run())) }

const dt = 0.02

// scene is a population with a known law.
type scene struct {
	d, fraction []float64 // px²/s
	spread      float64   // sd of ln D
	noise       float64   // localisation sd, px
	wrong       float64   // ratio of the stated to the true localisation sd
	lives       float64   // mean lifetime of an object in frames; 0: for ever
	stays       float64   // mean number of frames in a state; 0: for ever
	heavy       float64   // fraction of steps that are three times as long
	shaken      float64   // sd of ln of a factor that all steps of a frame share
}

// walker is one object.
type walker struct {
	state int
	own   float64 // factor of D
	x, y  float64 // error of the last position, px
	trail pooled.Trail
	track Track
	seen  bool
}

// film holds moving objects, the learner of their law, and the monitor.
type film struct {
	scene
	rng     *rand.Rand
	objects []walker
	learner *pooled.Learner
	monitor *Monitor
	seq     uint64
	every   float64
	rings   [2]bool
	alarms  [2]int
}

func (s scene) film(seed uint64, n int, every float64) *film {
	f := &film{scene: s, rng: rand.New(rand.NewPCG(seed, 7)), objects: make([]walker, n), every: every}
	f.learner, f.monitor = pooled.New(pooled.Config{Deterministic: true}), New(0, every)
	for i := range f.objects {
		f.born(&f.objects[i])
	}
	return f
}

// born replaces an object by a new object.
func (f *film) born(w *walker) {
	f.draw(w)
	w.own, w.seen = math.Exp(f.spread*f.rng.NormFloat64()), false
	w.trail.Cut(f.learner.Keep)
	w.track.Forget()
	f.monitor.Born()
}

// draw redraws the state of an object.
func (f *film) draw(w *walker) {
	u := f.rng.Float64()
	for w.state = 0; w.state < len(f.fraction)-1 && u >= f.fraction[w.state]; w.state++ {
		u -= f.fraction[w.state]
	}
}

func (f *film) live() (out []states.Segment) {
	for i := range f.objects {
		if s, ok := f.objects[i].trail.Segment(); ok {
			out = append(out, s)
		}
	}
	return out
}

// frame moves all objects by a frame and returns the alarms that began.
func (f *film) frame() (began [2]bool) {
	all := math.Exp(f.shaken * f.rng.NormFloat64())
	for i := range f.objects {
		w := &f.objects[i]
		if f.lives > 0 && f.rng.Float64() < 1/f.lives {
			f.born(w)
		}
		if f.stays > 0 && f.rng.Float64() < 1/f.stays {
			f.draw(w)
		}
		sd := math.Sqrt(2*f.d[w.state]*w.own*dt) * all
		if f.rng.Float64() < f.heavy {
			sd *= 3
		}
		x, y := f.noise*f.rng.NormFloat64(), f.noise*f.rng.NormFloat64()
		s := states.Step{X: sd*f.rng.NormFloat64() + x - w.x, Y: sd*f.rng.NormFloat64() + y - w.y, DT: dt}
		w.x, w.y = x, y
		if !w.seen {
			w.seen = true
			continue
		}
		told := max(f.noise*f.wrong, 1e-3)
		told *= told
		w.trail.Step(s, told, told, f.learner.Keep)
		f.monitor.Step(&w.track, s, told, told)
		f.learner.Count(1)
	}
	f.monitor.End()
	f.seq++
	e := f.monitor.Evidence()
	for k, v := range []float64{e.Diffusion, e.Mixture} {
		if !f.rings[k] && v > f.every {
			began[k], f.rings[k] = true, true
			f.alarms[k]++
			f.learner.Forget()
			for i := range f.objects {
				f.objects[i].trail.Forget()
			}
		}
	}
	if f.learner.Pass(f.seq, f.live) {
		anew := f.rings[0] || f.rings[1]
		f.monitor.Use(f.learner.Law().Mixture, anew)
		f.rings = [2]bool{}
	}
	return began
}

var scenes = map[string]scene{
	"one":      {d: []float64{4}, fraction: []float64{1}, noise: 0.1, wrong: 1},
	"one dies": {d: []float64{4}, fraction: []float64{1}, noise: 0.1, wrong: 1, lives: 60},
	"noisy":    {d: []float64{4}, fraction: []float64{1}, noise: 0.5, wrong: 1.3, lives: 200},
	"two":      {d: []float64{1, 10}, fraction: []float64{0.5, 0.5}, noise: 0.1, wrong: 1},
	"two die":  {d: []float64{1, 10}, fraction: []float64{0.5, 0.5}, noise: 0.1, wrong: 1, lives: 60},
	"switch":   {d: []float64{1, 10}, fraction: []float64{0.5, 0.5}, noise: 0.1, wrong: 1, stays: 50},
	"spread":   {d: []float64{4}, fraction: []float64{1}, spread: 0.5, noise: 0.1, wrong: 0.7},
	"spread d": {d: []float64{4}, fraction: []float64{1}, spread: 0.5, noise: 0.1, wrong: 1, lives: 60},
	"heavy":    {d: []float64{4}, fraction: []float64{1}, noise: 0.1, wrong: 1, lives: 60, heavy: 0.02},
	"shaken":   {d: []float64{4}, fraction: []float64{1}, noise: 0.1, wrong: 1, lives: 60, shaken: 0.1},
}

// run continues a film and returns the number of alarms that began, and the frame of the first alarm of the given kind, 0 without one.
func (f *film) run(frames, kind int) (alarms [2]int, first int) {
	before := f.alarms
	for k := range frames {
		if f.frame()[kind] && first == 0 {
			first = k + 1
		}
	}
	return [2]int{f.alarms[0] - before[0], f.alarms[1] - before[1]}, first
}

// TestFalse: in A frames there are at most two false alarms of a kind. One is allowed; if one were expected, more than two would occur by chance in one of
// twelve runs. Far fewer are expected.
func TestFalse(t *testing.T) {
	suite.Calculation(t)
	for _, name := range []string{"one dies", "two die", "shaken", "heavy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := scenes[name].film(3, 20, 1e3)
			defer f.learner.Close()
			if alarms, _ := f.run(1000, 0); alarms[0] > 2 || alarms[1] > 2 {
				t.Errorf("%v alarms in 1000 frames", alarms)
			}
		})
	}
}

// TestDelay: a change is reported as soon as the evidence allows. A step of an object adds ln 2 - 1/2 = 0.19 nats against a doubled D, or 0.31 for it. 20
// objects give 6 nats per frame, of which 3 count, so 9 nats and the mean over four alternatives take 4 or 5 frames. For D times 1.4 it is a fifth of this,
// minus the effects of noise and of the law's uncertainty.
func TestDelay(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct {
		scene   string
		objects int
		by      float64   // factor on every D
		to      []float64 // new fractions; nil if they stay
		kind    int
		most    int // frames
	}{
		{"one", 20, 2, nil, 0, 10},
		{"one", 100, 2, nil, 0, 6},
		{"one", 20, 0.5, nil, 0, 10},
		{"one dies", 100, 1.4, nil, 0, 25},
		{"two die", 100, 2, nil, 0, 6},
		{"two die", 100, 1, []float64{0.2, 0.8}, 1, 150},
	} {
		t.Run(c.scene, func(t *testing.T) {
			t.Parallel()
			f := scenes[c.scene].film(5, c.objects, 1e4)
			defer f.learner.Close()
			if alarms, _ := f.run(300, 0); alarms != [2]int{} {
				t.Fatalf("%v alarms before the change", alarms)
			}
			f.change(c.by, c.to)
			if _, first := f.run(c.most, c.kind); first == 0 {
				t.Errorf("D times %g, fractions %v of %d objects: no alarm in %d frames", c.by, c.to, c.objects, c.most)
			}
		})
	}
}

// change multiplies all D by a factor and changes the fractions.
func (f *film) change(by float64, to []float64) {
	f.d = append([]float64(nil), f.d...)
	for k := range f.d {
		f.d[k] *= by
	}
	if to != nil {
		f.fraction = to
	}
}

// TestUse: a new law is not used while the evidence against the previous law is not low, except after a change. Evidence does not grow without steps.
func TestUse(t *testing.T) {
	m, track := New(0, 1e3), Track{}
	if !m.Use(lawOf(1, 0), false) {
		t.Error("the first law is not used")
	}
	for range 40 {
		m.Step(&track, states.Step{X: 1, Y: 1, DT: dt}, 0.01, 0.01)
		m.End()
	}
	grown := m.Evidence().Diffusion
	if grown < 1e3 || m.Most().Factor != 2 {
		t.Errorf("evidence %g for %+v, expected more than 1000 for a factor of 2", grown, m.Most())
	}
	if m.End(); m.Evidence().Diffusion != grown {
		t.Error("evidence grew in a frame without a step")
	}
	if m.Use(lawOf(1, 0), false) {
		t.Error("a law that may mix steps from before and after a change came into use")
	}
	if !m.Use(lawOf(2, 0), true) || m.Evidence() != (Evidence{}) {
		t.Error("evidence did not restart with the first law after a change")
	}
}

// work is the number of steps of objects in a film of TestStudy. A tenth of them are for the law before a change. The figures in evidence.go are from
// 200,000.
const work = 60000

// TestStudy prints false alarms and delays. It fails if the false alarms exceed the allowed number by more than three standard deviations.
func TestStudy(t *testing.T) {
	suite.Long(t)
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{20, 100} {
				frames := work / n
				f := s.film(uint64(n), n, 1e3)
				alarms, _ := f.run(frames, 0)
				f.learner.Close()
				t.Logf("%d objects, %d frames: %v false alarms at A = 1000", n, frames, alarms)
				if allowed := float64(frames) / 1e3; float64(max(alarms[0], alarms[1])) > allowed+3*math.Sqrt(allowed) {
					t.Errorf("%d objects: %v false alarms in %d frames", n, alarms, frames)
				}
				for _, by := range []float64{2, 1.4, 1 / 1.4} {
					f := s.film(uint64(n)+100, n, 1e4)
					f.run(work/10/n, 0)
					f.change(by, nil)
					_, first := f.run(work/10/n, 0)
					f.learner.Close()
					t.Logf("%d objects, D times %.2g: an alarm after %d frames", n, by, first)
				}
				if len(s.d) > 1 {
					f := s.film(uint64(n)+200, n, 1e4)
					f.run(work/10/n, 0)
					f.change(1, []float64{0.2, 0.8})
					_, first := f.run(work/10/n, 1)
					f.learner.Close()
					t.Logf("%d objects, 0.8 of the objects instead of 0.5: an alarm after %d frames", n, first)
				}
			}
		})
	}
}
