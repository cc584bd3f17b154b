package law

import (
	"math"

	"driftscope/online/states"
	"driftscope/online/switching"
)

// Switching is how often objects go from one state to another.
type Switching struct {
	Nats     float64     `json:"nats"`          // evidence that they do: each step by the rates of the steps before it
	Told     bool        `json:"told"`          // whether that is twenty to one
	Rates    [][]float64 `json:"rates"`         // from each state to each, 1/s
	Switches int         `json:"switches"`      // in the likeliest ways of all tracks, where they are told
	Cut      bool        `json:"cut"`           // whether the law is that of the pieces between switches
	Unused   int         `json:"tracks_unused"` // beyond mostSwitched
}

// ways are the switches of tracks by the likeliest way of each, by their places among those used; nil where none are told.
type ways map[int][]change

// change is a switch: the first step in the new state, the frame that it begins in, and the states, from 1.
type change struct{ step, frame, from, to int }

const (
	mostSwitched = 2_000_000 // steps: six states take 5 µs a step
	lasts        = 1000      // frames that a state is believed to last before any switch is seen, as in a live run
	mostTraced   = 4096      // places of a track whose way is looked for at a time
)

// reading is what a law's states make of all tracks.
type reading struct {
	law   *states.Law
	model *switching.Model
	nats  float64
	log   float64 // ln likelihood of the tracks, by rates that were learnt from them
	ways  ways
}

// score is the log likelihood, less half of the logarithm of the number of tracks for each D, fraction and rate.
func (r *reading) score(tracks int) float64 {
	k := float64(r.model.States())
	return r.log - (2*k-1+k*(k-1))/2*math.Log(max(float64(tracks), 2))
}

// rounds is how often tracks are cut where they switch, and the law is found in the pieces: D that were between two states are right after one or two.
const rounds = 3

// leastMixed is the share of tracks that switch from which on the law is found anew: of fewer it is hardly moved.
const leastMixed = 0.1

// refine is the law of the pieces of tracks between their switches, and what it makes of the tracks, where that is likelier: of as many states, or of one
// less, because tracks that switch may have been taken for a state of their own.
func (f *film) refine(r *reading, numbers []int, o states.Options) (best *reading) {
	pieces, most := f.cut(r.ways), r.model.States()
	for k := most; k >= max(most-1, 2) && (o.States == 0 || k == most); k-- {
		asked := o
		asked.States = k
		next, ok := states.Infer(pieces, asked)
		if !ok {
			continue
		}
		if again := f.read(next, numbers); again != nil && again.ways != nil && again.score(len(numbers)) > r.score(len(numbers)) {
			best, r = again, again
		}
	}
	return best
}

// switching reads every track by the states of a law; nil where there is one state, or where the film shows objects late, so that steps
// follow each other without any switch. Where many tracks are told to switch, the law is found anew in the pieces of
// tracks between their switches, and kept where the tracks are likelier by it.
func (f *film) switching(l *states.Law, o states.Options) (*Switching, ways, *states.Law) {
	if l.Lag > 1 {
		return nil, nil, l
	}
	numbers := f.few(mostSwitched)
	r := f.read(l, numbers)
	if r == nil {
		return nil, nil, l
	}
	s := &Switching{Nats: r.nats, Told: r.nats > switching.Evident, Unused: len(f.used) - len(numbers)}
	mixed := float64(len(r.ways)) >= leastMixed*float64(len(numbers))
	for round := 0; mixed && round < rounds; round++ {
		again := f.refine(r, numbers, o)
		if again == nil {
			break
		}
		r, s.Cut = again, true
	}
	if s.Cut {
		r.law.Tracks, r.law.Objects = l.Tracks, nil
		l = r.law
		for i := range f.segments {
			l.Objects = append(l.Objects, l.Judge(f.segments[i], f.exposure))
		}
	}
	for i := range l.States {
		row := make([]float64, len(l.States))
		for j := range row {
			if i != j {
				row[j] = r.model.Rate(i, j)
			}
		}
		s.Rates = append(s.Rates, row)
	}
	for _, way := range r.ways {
		s.Switches += len(way)
	}
	return s, r.ways, l
}

// read reads tracks twice: what the second time makes of the evidence counts for nothing, because its rates are learnt from the same steps. Nil where there
// are no states that objects may switch between.
func (f *film) read(l *states.Law, numbers []int) *reading {
	var d []float64
	for _, s := range l.States {
		d = append(d, s.D.Value)
	}
	dt := f.exact()
	m, err := switching.New(switching.Config{D: d, Noise: l.Noise * l.Noise, Exposure: f.exposure, Lasts: lasts * dt})
	if err != nil || len(d) < 2 { // states that lie on each other are none
		return nil
	}
	r := &reading{law: l, model: m}
	for pass := range 2 {
		for _, i := range numbers {
			var t switching.Track
			for _, p := range f.way(i, dt) {
				t.Add(m, p)
			}
			t.Cut(m)
		}
		if pass == 0 {
			r.nats = m.Evidence()
		}
	}
	if r.nats <= switching.Evident {
		return r
	}
	r.ways = ways{}
	for _, i := range numbers {
		way, log := f.changes(m, i, dt)
		if r.log += log; len(way) > 0 {
			r.ways[i] = way
		}
	}
	return r
}

// cut is the pieces of tracks between their switches.
func (f *film) cut(at ways) (pieces []states.Segment) {
	for i := range f.segments {
		steps, from := f.segments[i].Steps, 0
		for _, c := range at[i] {
			pieces = append(pieces, states.Segment{Steps: steps[from:c.step], Weight: 1})
			from = c.step
		}
		pieces = append(pieces, states.Segment{Steps: steps[from:], Weight: 1})
	}
	return pieces
}

// exact is the time of a frame of which any number is exact in double precision, so that all steps of one frame take as long.
func (f *film) exact() float64 { return float64(float32(f.dt)) }

// few are the numbers of tracks that have so many steps at most, evenly over the table.
func (f *film) few(most int) []int {
	steps, numbers := 0, make([]int, len(f.segments))
	for i := range f.segments {
		numbers[i] = i
		steps += len(f.segments[i].Steps)
	}
	if steps <= most {
		return numbers
	}
	numbers = some(numbers, max(int(float64(len(numbers))*float64(most)/float64(steps)), 1))
	left := most
	for k, i := range numbers { // tracks that come first may be longer
		if left -= len(f.segments[i].Steps); left < 0 {
			return numbers[:max(k, 1)]
		}
	}
	return numbers
}

// way is the places of a track, from the first one on, the shared motion taken off.
func (f *film) way(i int, dt float64) []switching.Place {
	points, steps := f.used[i].points, f.segments[i].Steps
	out := make([]switching.Place, 1, len(points))
	out[0].Weight = 1
	for k, s := range steps {
		last := &out[k]
		out = append(out, switching.Place{X: last.X + s.X, Y: last.Y + s.Y, T: dt * float64(points[k+1].Frame-points[0].Frame), Weight: 1})
	}
	return out
}

// changes are the switches of a track, and its ln likelihood.
func (f *film) changes(m *switching.Model, i int, dt float64) (out []change, log float64) {
	places := f.way(i, dt)
	for from := 0; from < len(places)-1; from += mostTraced {
		p := m.Trace(places[from:min(from+mostTraced+1, len(places))])
		log += p.Log
		for _, s := range p.Switches {
			step := from + s.Step
			out = append(out, change{step, f.used[i].points[step].Frame, s.From + 1, s.To + 1})
		}
	}
	return out, log
}
