package placement

import (
	"cmp"
	"slices"
)

// worker is one with what it has got so far.
type worker struct {
	Worker
	milli int64 // cores, in thousandths
	load  int64 // of what it has, the same
	has   map[*stream]bool
	seed  uint64
}

// stream is one with where it is.
type stream struct {
	Stream
	milli   int64
	at, was *worker // nil: nowhere
	seed    uint64
}

// state is who has what while a plan is made.
type state struct {
	workers []*worker // by name
	streams []*stream // by name
	named   map[string]*worker
}

func newState(workers []Worker, streams []Stream) *state {
	s := &state{named: map[string]*worker{}}
	for _, w := range sorted(workers, func(w Worker) string { return w.Name }, compareWorkers) {
		if w.Name == "" {
			continue // nobody could be told from it
		}
		own := &worker{Worker: w, milli: thousandths(w.Cores), has: map[*stream]bool{}, seed: hash(w.Name)}
		s.workers = append(s.workers, own)
		s.named[w.Name] = own
	}
	for _, x := range sorted(streams, func(x Stream) string { return x.Name }, compareStreams) {
		own := &stream{Stream: x, milli: thousandths(x.Cores), seed: hash(x.Name)}
		s.streams = append(s.streams, own)
		if own.was = s.named[x.Holder]; own.was != nil && own.was.may(own) {
			s.move(own, own.was)
		}
	}
	return s
}

func compareWorkers(x, y Worker) int {
	return cmp.Or(cmp.Compare(x.Cores, y.Cores), slices.Compare(x.Labels, y.Labels), compareBool(x.Draining, y.Draining))
}

func compareStreams(x, y Stream) int {
	return cmp.Or(cmp.Compare(x.Cores, y.Cores), slices.Compare(x.Labels, y.Labels), cmp.Compare(x.Pinned, y.Pinned), cmp.Compare(x.Holder, y.Holder))
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// may says that w is one of those that could run x if they had nothing else to do, whatever that takes.
func (w *worker) may(x *stream) bool {
	return !w.Draining && w.milli > 0 && x.milli >= 0 && w.labelled(x)
}

// labelled says that w has all labels of x.
func (w *worker) labelled(x *stream) bool {
	for _, l := range x.Labels {
		if !slices.Contains(w.Labels, l) {
			return false
		}
	}
	return true
}

// fits says that x may come to w, which has room.
func (w *worker) fits(x *stream) bool {
	return w != x.at && w.may(x) && w.load+x.milli <= w.milli
}

// move takes x to w.
func (s *state) move(x *stream, w *worker) {
	if x.at != nil {
		x.at.load -= x.milli
		delete(x.at.has, x)
	}
	x.at = w
	w.load += x.milli
	w.has[x] = true
}

// pinnedHere says that x is where somebody moved it to.
func (x *stream) pinnedHere() bool { return x.at != nil && x.Pinned == x.at.Name }
