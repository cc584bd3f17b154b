package placement

import (
	"cmp"
	"math"
	"slices"
)

const (
	// MostCores bounds a worker's cores and a stream's, so that products of loads fit in 64 bits for 10,000 streams.
	MostCores = 1024
	// Margin is by how much a move must level relative loads: a twentieth of a worker is less than the load of a stream varies by.
	Margin = 1.0 / marginPart

	marginPart = 20
	placing    = 8 * marginPart // who has no worker comes closer to the least load than levelling goes, so that what was placed stays
	milli      = 1000           // of a core
)

// Worker is one that may run streams.
type Worker struct {
	Name     string
	Cores    float64
	Labels   []string
	Draining bool // it gets nothing, and what it has goes to others
}

// Stream is one that should run.
type Stream struct {
	Name   string
	Cores  float64  // that it takes
	Labels []string // that its worker must have, all of them
	Pinned string   // the worker that somebody moved it to; any where empty. While that one is not there or has no room, others run it
	Holder string   // who runs it, or whom it is being handed to; nobody where empty
}

// Plan is who should run what.
type Plan struct {
	Places  map[string]string // by stream: its worker. Streams that have none are not in it
	Moves   []Move            // of streams that have a holder now, by stream
	Waiting []Waiting         // streams that no worker can run, by stream
	Notes   []Waiting         // streams that run elsewhere than where they are pinned, by stream

	workers map[string]*worker
	streams map[string]*stream
}

// Move takes a stream from a worker that is there to another.
type Move struct{ Stream, From, To string }

// Waiting is a stream and why it does not run, or not where it is pinned.
type Waiting struct{ Stream, Why string }

// Make plans. The order of what it is given does not matter; of two of one name the first in the order of all their fields counts.
func Make(workers []Worker, streams []Stream) Plan {
	s := newState(workers, streams)
	for changed := true; changed; {
		changed = s.pin() || s.relieve() || s.place() || s.level()
	}
	p := Plan{Places: map[string]string{}, workers: map[string]*worker{}, streams: map[string]*stream{}}
	for _, w := range s.workers {
		p.workers[w.Name] = w
	}
	for _, x := range s.streams {
		p.streams[x.Name] = x
		if x.at == nil {
			p.Waiting = append(p.Waiting, Waiting{x.Name, s.why(x)})
			continue
		}
		p.Places[x.Name] = x.at.Name
		if x.was != nil && x.was != x.at {
			p.Moves = append(p.Moves, Move{x.Name, x.was.Name, x.at.Name})
		}
		if x.Pinned != "" && x.at.Name != x.Pinned {
			p.Notes = append(p.Notes, Waiting{x.Name, s.whyNot(x)})
		}
	}
	return p
}

// Turn is a worker's place in the queue for a stream: 0 is the one that the plan names, and the others follow in rendezvous order. They wait that many times
// some time before they claim in its stead. -1 where the worker may not run it.
func (p Plan) Turn(name, of string) int {
	w, x := p.workers[name], p.streams[of]
	if w == nil || x == nil || !w.may(x) || x.milli > w.milli {
		return -1
	}
	if p.Places[of] == name {
		return 0
	}
	turn := 0
	if p.Places[of] != "" {
		turn = 1
	}
	for _, other := range p.workers {
		if other != w && other.Name != p.Places[of] && other.may(x) && x.milli <= other.milli && before(other, w, x) {
			turn++
		}
	}
	return turn
}

// thousandths of a core; -1 where that is no number of cores.
func thousandths(cores float64) int64 {
	if !(cores >= 0 && cores <= MostCores) {
		return -1
	}
	return int64(math.Round(cores * milli))
}

// sorted is a copy in order, of which each name is there once.
func sorted[T any](all []T, name func(T) string, compare func(x, y T) int) []T {
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y T) int { return cmp.Or(cmp.Compare(name(x), name(y)), compare(x, y)) })
	return slices.CompactFunc(all, func(x, y T) bool { return name(x) == name(y) })
}
