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
	Unused   int         `json:"tracks_unused"` // beyond mostSwitched
}

// ways are the switches of tracks by the likeliest way of each, by their places among those used; nil where none are told.
type ways map[int][]change

// change is a switch: the frame of the first place of the new state, and the states, from 1.
type change struct{ frame, from, to int }

const (
	mostSwitched = 2_000_000 // steps: six states take 5 µs a step
	lasts        = 1000      // frames that a state is believed to last before any switch is seen, as in a live run
	mostTraced   = 4096      // places of a track whose way is looked for at a time
)

// evident is the evidence from which objects are told to switch: twenty to one.
var evident = math.Log(20)

// switching reads every track by the states of a law; nil where there is one state.
func (f *film) switching(l *states.Law) (*Switching, ways) {
	var d []float64
	for _, s := range l.States {
		d = append(d, s.D.Value)
	}
	dt := f.exact()
	m, err := switching.New(switching.Config{D: d, Noise: l.Noise * l.Noise, Exposure: f.exposure, Lasts: lasts * dt})
	if err != nil || len(d) < 2 { // states that lie on each other are none
		return nil, nil
	}
	numbers := f.few(mostSwitched)
	read := func() {
		for _, i := range numbers {
			var t switching.Track
			for _, p := range f.way(i, dt) {
				t.Add(m, p)
			}
			t.Cut(m)
		}
	}
	read()
	s := &Switching{Nats: m.Evidence(), Unused: len(f.used) - len(numbers)}
	s.Told = s.Nats > evident
	read() // by the rates of all; what this makes of the evidence counts for nothing, because the rates are learnt from the same steps
	for i := range d {
		row := make([]float64, len(d))
		for j := range row {
			if i != j {
				row[j] = m.Rate(i, j)
			}
		}
		s.Rates = append(s.Rates, row)
	}
	if !s.Told {
		return s, nil
	}
	found := ways{}
	for _, i := range numbers {
		if way := f.changes(m, i, dt); len(way) > 0 {
			found[i] = way
			s.Switches += len(way)
		}
	}
	return s, found
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

// changes are the switches of a track.
func (f *film) changes(m *switching.Model, i int, dt float64) (out []change) {
	places := f.way(i, dt)
	for from := 0; from < len(places)-1; from += mostTraced {
		p := m.Trace(places[from:min(from+mostTraced+1, len(places))])
		for _, s := range p.Switches {
			out = append(out, change{f.used[i].points[from+s.Step].Frame, s.From + 1, s.To + 1})
		}
	}
	return out
}
