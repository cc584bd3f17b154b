package change

import (
	"fmt"
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

// scene is a population of which the law is known.
type scene struct {
	d, fraction []float64 // px²/s
	spread      float64   // sd of ln D
	noise       float64   // sd of a place, px
	wrong       float64   // the stated sd over the true one
	lives       float64   // mean number of frames of an object; 0: for ever
	stays       float64   // mean number of frames in a state; 0: for ever
	heavy       float64   // share of steps three times as far
	shaken      float64   // sd of ln of a factor that all steps of a frame share
}

// walker is one object.
type walker struct {
	state int
	own   float64 // factor of D
	x, y  float64 // error of the last place, px
	mover bool
	trail pooled.Trail
	track Track
	seen  bool
}

// film is objects that move, are learnt from and weighed.
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
	raised  uint64
}

func (s scene) film(seed uint64, n int, every float64) *film {
	f := &film{scene: s, rng: rand.New(rand.NewPCG(seed, 7)), objects: make([]walker, n), every: every}
	f.learner, f.monitor = pooled.New(pooled.Config{Deterministic: true}), New(0, every)
	for i := range f.objects {
		f.born(&f.objects[i])
	}
	return f
}

// born has an object be a new one.
func (f *film) born(w *walker) {
	f.draw(w)
	w.own, w.seen = math.Exp(f.spread*f.rng.NormFloat64()), false
	w.trail.Cut(f.learner.Keep)
	w.track.Forget()
	f.monitor.Born()
}

// draw has an object's state be a new one.
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

// frame moves all objects once, and says whether an alarm began.
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

func TestStudy(t *testing.T) {
	if os.Getenv("STUDY") == "" {
		t.Skip()
	}
	for _, name := range []string{"one", "one dies", "noisy", "two", "two die", "switch", "spread", "spread d", "heavy", "shaken"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := fmt.Sprintf("%-10s", name)
			for _, n := range []int{20, 100} {
				s := scenes[name]
				f := s.film(uint64(n), n, 1e3)
				frames := 200000 / n
				for range frames {
					f.frame()
				}
				line += fmt.Sprintf(" | n %d false %v in %d (V %.2f rate %.4f)", n, f.alarms, frames, f.monitor.scale.variance, f.monitor.renewal.rate)
				f.learner.Close()
				for _, by := range []float64{2, 1.4, 0.7, 0} {
					delay, missed := 0, 0
					const runs = 2
					for seed := range uint64(runs) {
						f := s.film(seed+100, n, 1e4)
						for range 20000 / n {
							f.frame()
						}
						for k := range f.d {
							f.d = append([]float64(nil), f.d...)
							if by > 0 {
								f.d[k] *= by
							}
						}
						k := 0
						if by == 0 {
							if len(f.d) < 2 {
								f.learner.Close()
								continue
							}
							k = 1
							f.fraction = []float64{0.2, 0.8}
							if f.lives == 0 && f.stays == 0 {
								f.stays = 50
							}
						}
						at := 0
						for at = 1; at < 20000/n; at++ {
							if b := f.frame(); b[k] {
								break
							}
						}
						if at == 20000/n {
							missed++
						}
						delay += at
						f.learner.Close()
					}
					line += fmt.Sprintf(" x%g %d(%d)", by, delay/runs, missed)
				}
			}
			fmt.Println(line)
		})
	}
}
