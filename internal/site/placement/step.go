package placement

import (
	"cmp"
	"slices"
)

// pin takes streams to where somebody moved them, where there is room.
func (s *state) pin() (changed bool) {
	for _, x := range s.streams {
		if w := s.named[x.Pinned]; w != nil && w.fits(x) {
			s.move(x, w)
			changed = true
		}
	}
	return changed
}

// relieve takes streams off workers that have more than their cores, where others have room: the smallest that is enough, or the largest.
func (s *state) relieve() (changed bool) {
	for _, w := range s.workers {
		for w.load > w.milli {
			x, to := s.tooMuch(w)
			if x == nil {
				break
			}
			s.move(x, to)
			changed = true
		}
	}
	return changed
}

// tooMuch is the stream that leaves a worker which has too many, and where it goes; nil where none can. One that takes nothing stays.
func (s *state) tooMuch(w *worker) (*stream, *worker) {
	excess := w.load - w.milli
	enough := func(x *stream) int {
		if x.milli >= excess {
			return 0
		}
		return 1
	}
	all := w.sorted()
	slices.SortStableFunc(all, func(x, y *stream) int {
		if e := cmp.Compare(enough(x), enough(y)); e != 0 {
			return e
		}
		if enough(x) == 0 {
			return cmp.Compare(x.milli, y.milli)
		}
		return cmp.Compare(y.milli, x.milli)
	})
	for _, x := range all {
		if x.milli == 0 || x.pinnedHere() {
			continue
		}
		if to := s.best(x); to != nil {
			return x, to
		}
	}
	return nil, nil
}

// place finds workers for streams that have none, the largest first.
func (s *state) place() (changed bool) {
	var without []*stream
	for _, x := range s.streams {
		if x.at == nil {
			without = append(without, x)
		}
	}
	slices.SortStableFunc(without, func(x, y *stream) int { return cmp.Compare(y.milli, x.milli) })
	for _, x := range without {
		if w := s.best(x); w != nil {
			s.move(x, w)
			changed = true
		}
	}
	return changed
}

// best is, of the workers that have room for x, the first in its rendezvous order among those that levelling would not take it from again; nil where none has
// room. That bounds the loads of rendezvous hashing as Mirrokni, Thorup & Zadimoghaddam do (SODA 2018).
func (s *state) best(x *stream) *worker {
	var least, best *worker
	for _, w := range s.workers {
		if w.fits(x) && (least == nil || (w.load+x.milli)*least.milli < (least.load+x.milli)*w.milli) {
			least = w
		}
	}
	if least == nil {
		return nil
	}
	for _, w := range s.workers {
		if w.fits(x) && !lowers(w.load+x.milli, w, least, x, placing) && (best == nil || before(w, best, x)) {
			best = w
		}
	}
	return best
}

// lowers says that moving x from a worker whose load is this to another makes the greater of their relative loads less by more than a part of one. In thousandths
// all products are below 2^63: 10,000 streams and a worker, both of MostCores, give 160 * 1e10 * 1e6.
func lowers(load int64, from, to *worker, x *stream, part int64) bool {
	return part*(to.load+x.milli)*from.milli+to.milli*from.milli < part*load*to.milli
}

// level moves one stream where that levels relative loads, from the fullest worker that has one; it is false where none is left to move.
func (s *state) level() bool {
	full := slices.Clone(s.workers)
	slices.SortStableFunc(full, func(w, v *worker) int { return cmp.Compare(v.load*max(w.milli, 1), w.load*max(v.milli, 1)) })
	for _, from := range full {
		if from.milli <= 0 {
			continue
		}
		var move *stream
		var to *worker
		for _, x := range from.sorted() {
			if x.milli == 0 || x.pinnedHere() {
				continue
			}
			if w := s.lowest(x, from); w != nil && (to == nil || better(x, w, move, to)) {
				move, to = x, w
			}
		}
		if move != nil {
			s.move(move, to)
			return true
		}
	}
	return false
}

// lowest is the worker whose relative load with x would be least, where moving it there is worth while; nil where none is.
func (s *state) lowest(x *stream, from *worker) *worker {
	var to *worker
	for _, w := range s.workers {
		if !lowers(from.load, from, w, x, marginPart) || !w.fits(x) {
			continue
		}
		if to != nil {
			a, b := (w.load+x.milli)*to.milli, (to.load+x.milli)*w.milli
			if a > b || a == b && !before(w, to, x) {
				continue
			}
		}
		to = w
	}
	return to
}

// better says that moving x to w leaves the greater of the two loads less than moving y to v does, both from one worker.
func better(x *stream, w *worker, y *stream, v *worker) bool {
	a, b := greater(x, w), greater(y, v)
	if c := cmp.Compare(a.load*b.cores, b.load*a.cores); c != 0 {
		return c < 0
	}
	if x.milli != y.milli {
		return x.milli < y.milli
	}
	return score(w, x) > score(v, y)
}

// share is a relative load.
type share struct{ load, cores int64 }

// greater is the greater relative load of the two workers after x has moved to w.
func greater(x *stream, w *worker) share {
	from, to := share{x.at.load - x.milli, x.at.milli}, share{w.load + x.milli, w.milli}
	if from.load*to.cores > to.load*from.cores {
		return from
	}
	return to
}

// sorted is what w has, by name.
func (w *worker) sorted() []*stream {
	all := make([]*stream, 0, len(w.has))
	for x := range w.has {
		all = append(all, x)
	}
	slices.SortFunc(all, func(x, y *stream) int { return cmp.Compare(x.Name, y.Name) })
	return all
}
