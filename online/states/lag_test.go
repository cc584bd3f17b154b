package states

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// lagging simulates a film that shows each object halfway between its last displayed and its true position.
func lagging(in []Segment) (out []Segment) {
	for _, s := range in {
		var x, y float64
		next := Segment{Weight: 1}
		for _, step := range s.Steps {
			x, y = (x+step.X)/2, (y+step.Y)/2
			next.Steps = append(next.Steps, Step{x, y, step.DT})
		}
		out = append(out, next)
	}
	return out
}

// TestLag verifies that D of a film with lag uses longer steps and is right to a sixth. A remaining correlation below the detection limit biases D slightly.
func TestLag(t *testing.T) {
	segments := lagging(population(2, Film{dt, 0, 0.001}, 200, 60, [2]float64{2, 1}))
	l, _ := Infer(segments, Options{})
	if l.Lag < 2 || math.Abs(l.D.Value/2-1) > 1.0/6 || len(l.States) != 1 || len(l.Objects) != 200 || l.Steps != 200*59 {
		t.Errorf("steps of %d frames, D %+v, states %+v, %d objects", l.Lag, l.D, l.States, len(l.Objects))
	}
	short := l.Judge(Segment{Steps: segments[7].Steps[:1], Weight: 1}, 0)
	if short.D.Value != l.States[0].D.Value {
		t.Errorf("for a track shorter than a step, found D %+v", short.D)
	}
}

// confined simulates tracks of objects on springs with the given relaxation time in frames.
func confined(rng *rand.Rand, frames float64) (out []Segment) {
	keep := math.Exp(-1 / frames)
	for range 100 {
		var at, last [axes]float64
		s := Segment{Weight: 1}
		for n := range 50 {
			var seen [axes]float64
			for k := range axes {
				at[k] = keep*at[k] + math.Sqrt(1-keep*keep)*rng.NormFloat64()
				seen[k] = at[k] + 0.1*rng.NormFloat64()
			}
			if n > 0 {
				s.Steps = append(s.Steps, Step{seen[0] - last[0], seen[1] - last[1], dt})
			}
			last = seen
		}
		out = append(out, s)
	}
	return out
}

// TestNoLag verifies that 300 films of each kind use single steps: free objects, two states, switching, confinement, large noise, full exposure, and directed
// motion. Odds of a thousand to one and the penalty for a parameter give one false lag in 100,000 at 100 tracks.
func TestNoLag(t *testing.T) {
	films := uint64(300)
	if testing.Short() {
		films = 30
	}
	for name, draw := range map[string]func(seed uint64) []Segment{
		"free": func(seed uint64) []Segment { return population(seed, Film{dt, 0, 0.001}, 100, 50, [2]float64{2, 1}) },
		"two states": func(seed uint64) []Segment {
			return population(seed, Film{dt, 0, 0.01}, 100, 50, [2]float64{1, 0.5}, [2]float64{16, 0.5})
		},
		"short": func(seed uint64) []Segment {
			return population(seed, Film{dt, 0, 0.01}, 1000, 5, [2]float64{1, 0.5}, [2]float64{16, 0.5})
		},
		"switch": func(seed uint64) []Segment {
			a, b := population(seed, Film{dt, 0, 0.01}, 100, 25, [2]float64{1, 1}), population(seed+films, Film{dt, 0, 0.01}, 100, 25, [2]float64{16, 1})
			for i := range a {
				a[i].Steps = append(a[i].Steps, b[i].Steps...)
			}
			return a
		},
		"confined": func(seed uint64) []Segment { return confined(rand.New(rand.NewPCG(seed, 3)), 5) },
		"noisy":    func(seed uint64) []Segment { return population(seed, Film{dt, 0, 0.3}, 100, 50, [2]float64{2, 1}) },
		"blurred":  func(seed uint64) []Segment { return population(seed, Film{dt, dt, 0}, 100, 50, [2]float64{2, 1}) },
		"moving on": func(seed uint64) []Segment {
			return moving(population(seed, Film{dt, 0, 0.01}, 100, 50, [2]float64{2, 1}))
		},
	} {
		for seed := range films {
			if lag := lagOf(draw(seed)); lag != 1 {
				t.Errorf("%s, film %d: steps of %d frames", name, seed, lag)
			}
		}
	}
}

// moving adds a common motion to all objects.
func moving(segments []Segment) []Segment {
	for i := range segments {
		for k := range segments[i].Steps {
			segments[i].Steps[k].X += 0.2
		}
	}
	return segments
}

// TestEvery verifies that steps and times are summed, and that the scales belong to the remaining positions.
func TestEvery(t *testing.T) {
	s := Segment{Steps: []Step{{1, 0, 1}, {2, 0, 1}, {4, 0, 2}, {8, 1, 1}, {16, 0, 1}}, Scale: []float64{1, 2, 3, 4, 5, 6}, Weight: 0.6}
	want := Segment{Steps: []Step{{3, 0, 2}, {12, 1, 3}}, Scale: []float64{1, 3, 5}, Weight: 0.6}
	if got := s.every(2); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
	want.Weight = 0.3
	second := Segment{Steps: []Step{{6, 0, 3}, {24, 1, 2}}, Scale: []float64{2, 4, 6}, Weight: 0.3}
	if got := every([]Segment{s}, 2); !reflect.DeepEqual(got, []Segment{want, second}) {
		t.Errorf("%+v", got)
	}
	s.Steps, s.Scale = s.Steps[:1], nil
	if got := s.every(2); got.Weight != 0 || len(got.Steps) != 0 {
		t.Errorf("for one step, found %+v", got)
	}
	if got := every([]Segment{s}, 2); len(got) != 0 {
		t.Errorf("for one step, found %+v", got)
	}
}
