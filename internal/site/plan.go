package site

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	// MostCores is the largest number of cores of a worker or a stream.
	MostCores = 1024

	milli  = 1000      // cores are counted in thousandths, so that every machine compares the same numbers
	whole  = 1_000_000 // shares of a worker's cores are counted in millionths
	margin = whole / 20
)

// Plan assigns streams to workers. It depends on a snapshot alone: workers that see the same records make the same plan, so there is no
// leader.
//
// Streams stay where they run. A stream without a worker, or on an overfull one, goes to a worker that has its labels and the smallest share
// of its cores in use. A stream moves to the worker it was pinned to. It also moves to level the load, if that lowers the fullest
// worker's share by more than a twentieth. Every such step lowers the sorted list of shares, so the steps end. They depend only on the holders. So a
// snapshot after all steps gives the same plan, and workers that act one by one, each on its own snapshot, take the same kind of steps.
type Plan struct {
	Places  map[string]string // worker by stream; streams without a worker are missing
	Moves   []Move            // of streams that have a holder now, sorted by stream
	Waiting []Waiting         // streams that no worker can run, sorted by stream
	Notes   []Waiting         // streams that do not run on their pinned worker, sorted by stream

	workers []*planned
	streams map[string]*placed
}

// Move moves a stream from a live worker to another.
type Move struct{ Stream, From, To string }

// Waiting is a stream that does not run, or not on its pinned worker, with the reason.
type Waiting struct{ Stream, Why string }

// planned is a worker with the streams assigned so far.
type planned struct {
	is          *Worker
	cores, load int64 // in thousandths
	has         []*placed
}

// placed is a stream with its worker.
type placed struct {
	is      *Stream
	cores   int64    // in thousandths; -1 for an invalid number of cores
	at, was *planned // planned and present worker; nil if none
}

// share returns the fraction of a worker's cores in use, in millionths, after adding more cores.
func (w *planned) share(more int64) int64 { return (w.load + more) * whole / w.cores }

// may reports whether w could run x on its own.
func (w *planned) may(x *placed) bool {
	return !w.is.Draining && w.cores > 0 && x.cores >= 0 && !slices.ContainsFunc(x.is.Labels, func(l string) bool { return !slices.Contains(w.is.Labels, l) })
}

// fits reports whether x may move to w and w has room for it.
func (w *planned) fits(x *placed) bool { return w != x.at && w.load+x.cores <= w.cores && w.may(x) }

// to moves x to w.
func (x *placed) to(w *planned) {
	if old := x.at; old != nil {
		old.load -= x.cores
		old.has = slices.DeleteFunc(old.has, func(y *placed) bool { return x == y })
	}
	x.at = w
	w.load += x.cores
	w.has = append(w.has, x)
}

// pinned reports whether x is on its pinned worker.
func (x *placed) pinned() bool { return x.at != nil && x.at.is.Name == x.is.Worker }

// thousandths of a core; -1 for an invalid number of cores.
func thousandths(cores float64) int64 {
	if !(cores >= 0 && cores <= MostCores) {
		return -1
	}
	return int64(math.Round(cores * milli))
}

// Plan makes the plan for a snapshot. The order of the records does not matter.
func (s *Snapshot) Plan() *Plan {
	p := &Plan{Places: map[string]string{}, streams: map[string]*placed{}}
	named := map[string]*planned{}
	for i := range s.Workers {
		w := &planned{is: &s.Workers[i], cores: thousandths(s.Workers[i].Cores)}
		p.workers, named[w.is.Name] = append(p.workers, w), w
	}
	slices.SortFunc(p.workers, func(w, v *planned) int { return cmp.Compare(w.is.Name, v.is.Name) })
	holders := s.holders()
	var all []*placed
	for _, of := range [][]Stream{s.Streams, s.Vanished} {
		for i := range of {
			x := &placed{is: &of[i], cores: thousandths(of[i].Cores), was: named[holders[of[i].Name]]}
			all, p.streams[x.is.Name] = append(all, x), x
			if x.was != nil && x.was.may(x) {
				x.to(x.was)
			}
		}
	}
	slices.SortFunc(all, func(x, y *placed) int {
		return cmp.Or(cmp.Compare(y.cores, x.cores), cmp.Compare(x.is.Name, y.is.Name))
	})
	for p.pin(all, named) || p.relieve(all) || p.place(all) || p.level() {
	}
	slices.SortFunc(all, func(x, y *placed) int { return cmp.Compare(x.is.Name, y.is.Name) })
	p.tell(all, named)
	return p
}

// tell lists the plan's moves.
func (p *Plan) tell(all []*placed, named map[string]*planned) {
	for _, x := range all {
		if x.at == nil {
			p.Waiting = append(p.Waiting, Waiting{x.is.Name, p.why(x)})
			continue
		}
		p.Places[x.is.Name] = x.at.is.Name
		if x.was != nil && x.was != x.at {
			p.Moves = append(p.Moves, Move{x.is.Name, x.was.is.Name, x.at.is.Name})
		}
		if x.is.Worker != "" && !x.pinned() {
			p.Notes = append(p.Notes, Waiting{x.is.Name, whyNot(x, named[x.is.Worker])})
		}
	}
}

// pin moves streams to their pinned workers, if there is room.
func (p *Plan) pin(all []*placed, named map[string]*planned) (changed bool) {
	for _, x := range all {
		if w := named[x.is.Worker]; w != nil && w.fits(x) {
			x.to(w)
			changed = true
		}
	}
	return changed
}

// relieve moves a stream off an overfull worker if another has room: the smallest stream that is enough, or the largest.
func (p *Plan) relieve(all []*placed) bool {
	for _, w := range p.workers {
		if w.load <= w.cores {
			continue
		}
		var leaves *placed
		for _, x := range all { // the largest first
			if x.at == w && x.cores > 0 && !x.pinned() && (leaves == nil || w.load-x.cores <= w.cores) && p.best(x) != nil {
				leaves = x
			}
		}
		if leaves != nil {
			leaves.to(p.best(leaves))
			return true
		}
	}
	return false
}

// place assigns workers to streams without one, the largest stream first.
func (p *Plan) place(all []*placed) (changed bool) {
	for _, x := range all {
		if x.at != nil {
			continue
		}
		if w := p.best(x); w != nil {
			x.to(w)
			changed = true
		}
	}
	return changed
}

// best returns the worker that has the smallest share in use with x, or nil if none has room for x.
func (p *Plan) best(x *placed) (best *planned) {
	for _, w := range p.workers {
		if w.fits(x) && (best == nil || w.share(x.cores) < best.share(x.cores)) {
			best = w
		}
	}
	return best
}

// level moves one stream off the fullest worker if that levels the load. It returns false if no such move exists.
func (p *Plan) level() bool {
	full := slices.DeleteFunc(slices.Clone(p.workers), func(w *planned) bool { return len(w.has) == 0 })
	slices.SortStableFunc(full, func(w, v *planned) int { return cmp.Compare(v.share(0), w.share(0)) })
	least := int64(math.MaxInt64)
	for _, w := range p.workers {
		if w.cores > 0 && !w.is.Draining {
			least = min(least, w.share(0))
		}
	}
	for _, from := range full {
		if from.share(0) <= least+margin {
			break
		}
		var moves *placed
		var to *planned
		left := int64(math.MaxInt64) // the greater of the two shares afterwards
		for _, x := range from.sorted() {
			if x.cores == 0 || x.pinned() {
				continue
			}
			w := p.best(x)
			if w == nil || w.share(x.cores)+margin >= from.share(0) {
				continue
			}
			if after := max(w.share(x.cores), from.share(-x.cores)); after < left {
				moves, to, left = x, w, after
			}
		}
		if moves != nil {
			moves.to(to)
			return true
		}
	}
	return false
}

// sorted returns the streams of w, the largest first.
func (w *planned) sorted() []*placed {
	all := slices.Clone(w.has)
	slices.SortFunc(all, func(x, y *placed) int {
		return cmp.Or(cmp.Compare(y.cores, x.cores), cmp.Compare(x.is.Name, y.is.Name))
	})
	return all
}

// Turn returns a worker's position in the queue for a stream: 0 is the planned worker, the others follow by their fraction of free cores. A worker at
// position n waits n times a fixed time before it claims the stream instead of the planned one. Turn returns -1 if the worker may not run the stream.
func (p *Plan) Turn(name, of string) int {
	x := p.streams[of]
	i := slices.IndexFunc(p.workers, func(w *planned) bool { return w.is.Name == name })
	able := func(w *planned) bool { return w.may(x) && x.cores <= w.cores }
	if x == nil || i < 0 || !able(p.workers[i]) {
		return -1
	}
	if x.at == p.workers[i] {
		return 0
	}
	turn := 0
	for j, w := range p.workers {
		if !able(w) || w == p.workers[i] {
			continue
		}
		share, mine := w.share(x.cores), p.workers[i].share(x.cores)
		if w == x.at || share < mine || share == mine && j < i {
			turn++
		}
	}
	return turn
}

// why returns the reason why no worker runs x.
func (p *Plan) why(x *placed) string {
	if x.cores < 0 {
		return fmt.Sprintf("it needs %g cores, expected 0 to %d", x.is.Cores, MostCores)
	}
	there := slices.DeleteFunc(slices.Clone(p.workers), func(w *planned) bool { return w.is.Draining || w.cores <= 0 })
	free, fit := int64(0), false
	for _, w := range there {
		if w.may(x) {
			free, fit = max(free, w.cores-w.load), true
		}
	}
	switch {
	case len(p.workers) == 0:
		return "there is no worker"
	case len(there) == 0:
		return "every worker is draining, or has no cores"
	case !fit:
		return "no worker has " + missing(x.is.Labels, there)
	}
	return fmt.Sprintf("it needs %s cores, but the largest free number is %s", inCores(x.cores), inCores(free))
}

// missing returns the labels that no worker has.
func missing(labels []string, workers []*planned) string {
	for _, l := range labels {
		if !slices.ContainsFunc(workers, func(w *planned) bool { return slices.Contains(w.is.Labels, l) }) {
			return "label " + l
		}
	}
	return "all of the labels " + strings.Join(labels, ", ")
}

// whyNot returns the reason why x is not on its pinned worker w.
func whyNot(x *placed, w *planned) string {
	switch {
	case w == nil:
		return fmt.Sprintf("there is no worker %s", x.is.Worker)
	case w.is.Draining:
		return fmt.Sprintf("worker %s is draining", x.is.Worker)
	case w.cores > 0 && !w.may(x):
		return fmt.Sprintf("worker %s: it lacks %s", x.is.Worker, missing(x.is.Labels, []*planned{w}))
	}
	return fmt.Sprintf("it needs %s cores, but worker %s has %s free", inCores(x.cores), x.is.Worker, inCores(max(w.cores-w.load, 0)))
}

// inCores formats thousandths of a core as cores.
func inCores(thousandths int64) string {
	return strconv.FormatFloat(float64(thousandths)/milli, 'f', -1, 64)
}
