package pooled

import (
	"time"

	"driftscope/internal/kit/system"
	"driftscope/online/maps"
	"driftscope/online/states"
)

// Config is what a Learner is told.
type Config struct {
	Exposure float64 // of a frame, s
	Depth    float64 // of the slab of focus, px; 0 where it is not known
	// Deterministic makes Pass wait for a law that is late, so that the same steps always give the same laws.
	Deterministic bool
}

// When a law is learnt.
const (
	Lag       = 25     // frames between what is learnt from and its use
	firstLaw  = 200    // steps before the first: by as many D is known to a tenth
	firstMap  = 10_000 // steps before the map is read: ten a cell of the finest
	liveShare = 16     // of what the last was learnt from that is new before the next in a live run; in any other all of it, so that a recording waits for little
)

// The budget of a recording is counted, so that the same film has the same laws whatever the load. A step that is learnt from takes 5 µs where there is one
// state, and 100 where D is spread; one that is followed takes 10. So many steps are learnt from for each that is made, beside those that are saved up at the
// start. At the end of a run the budget does not count.
const (
	learntShare = 1.0 / 256
	saved       = 1 << 14
)

// growth is how many times the steps of the last law the next one of a live run is learnt from at most: a fast film of many objects has a law within a second,
// and one of all that is remembered some minutes later.
const growth = 4

// Learner learns the law of all objects. Its methods are called from one goroutine.
type Learner struct {
	config   Config
	memory   memory
	field    *maps.Map // nil before the field's size is known
	moves    int       // steps that went into it
	fresh    int       // steps since the last law was begun
	given    int       // steps that it was given
	credit   float64   // steps that a recording may still learn from
	frame    uint64
	due      uint64
	inFlight bool
	worker   *system.Worker[*Law]
	law      *Law // in use
}

// New is a Learner that has seen nothing. Close ends its goroutine.
func New(c Config) *Learner {
	return &Learner{config: c, worker: system.NewWorker[*Law](!c.Deterministic), credit: saved}
}

// Config is what it was told.
func (l *Learner) Config() Config { return l.config }

// Keep takes in a piece of a track that has ended.
func (l *Learner) Keep(s states.Segment) { l.memory.keep(s) }

// halfLife is how long a step counts half in the map: a flow of an hour ago is not that of now, and a trap is seen for ten minutes.
const halfLife = 600.0

// Begin says how large the field is, px: from then on there is a map. One of a field of this size that was read goes on.
func (l *Learner) Begin(width, height float64) (err error) {
	if l.field != nil {
		if w, h := l.field.Size(); w == width && h == height {
			return nil
		}
		l.moves = 0
	}
	l.field, err = maps.New(maps.Config{Width: width, Height: height, HalfLife: halfLife})
	return err
}

// Move takes in a step where it was made.
func (l *Learner) Move(s *maps.Step) {
	if l.field != nil {
		l.field.Add(s)
		l.moves++
	}
}

// Elapse has seconds go by.
func (l *Learner) Elapse(seconds float64) {
	if l.field != nil {
		l.field.Pass(seconds)
	}
}

// Count notes that so many steps were made.
func (l *Learner) Count(steps int) {
	l.fresh += steps
	l.credit = min(l.credit+learntShare*float64(steps), mostSteps)
}

// Law is the one in use; nil before the first.
func (l *Learner) Law() *Law { return l.law }

// Pass ends frame seq: it puts a law to use that is due, and begins the next where that is worth it. live gives the pieces of objects that are there. True
// says that the law is another one.
func (l *Learner) Pass(seq uint64, live func() []states.Segment) (changed bool) {
	l.frame++
	if l.inFlight && l.frame >= l.due && l.worker.Rested() {
		wait := time.Duration(0)
		if l.config.Deterministic {
			wait = system.Always
		}
		if law, ok := l.worker.Take(wait); ok {
			changed = l.use(law)
		}
	}
	if !l.inFlight && l.worth() {
		most := 0
		if !l.config.Deterministic {
			most = growth * max(firstLaw, l.given)
		}
		l.begin(seq, live(), most)
	}
	return changed
}

// worth says whether enough is new for another law, and the budget allows it.
func (l *Learner) worth() bool {
	if !l.config.Deterministic {
		return l.fresh >= max(firstLaw, l.given/liveShare) && l.worker.Rested()
	}
	return l.fresh >= max(firstLaw, l.given) && l.credit >= float64(min(l.given+l.fresh, mostSteps))
}

// use puts a law to use.
func (l *Learner) use(law *Law) (changed bool) {
	l.inFlight = false
	if law == nil {
		return false
	}
	l.law = law
	return true
}

// begin has the law learnt from about most of the steps that are remembered, or from all of them if most is 0.
func (l *Learner) begin(seq uint64, live []states.Segment, most int) {
	o := order{seq: seq, segments: thin(l.memory.with(live), most), options: states.Options{Exposure: l.config.Exposure, Depth: l.config.Depth}}
	if l.field != nil && l.moves >= firstMap {
		o.field = l.field.Clone()
	}
	l.worker.Begin(func(pause func()) *Law { return learn(o, pause) })
	l.given = 0
	for i := range o.segments {
		l.given += len(o.segments[i].Steps)
	}
	l.inFlight, l.due, l.fresh, l.credit = true, l.frame+Lag, 0, max(l.credit-float64(l.given), 0)
}

// ending is how long a live run that ends waits for a law, each of two times: it has to end within its grace. A recording waits for its own, which is always
// the same.
const ending = 500 * time.Millisecond

// patience is how long a law is waited for while a run ends.
func (l *Learner) patience() time.Duration {
	if l.config.Deterministic {
		return system.Always
	}
	return ending
}

// Finish learns from what is new, because no frame comes after seq. It waits; in a live run not long. True says that the law is another one.
func (l *Learner) Finish(seq uint64, live []states.Segment) (changed bool) {
	if l.inFlight {
		law, ok := l.worker.Take(l.patience())
		if !ok {
			return false
		}
		changed = l.use(law)
	}
	if l.fresh == 0 {
		return changed
	}
	l.begin(seq, live, 0)
	law, ok := l.worker.Take(l.patience())
	return ok && l.use(law) || changed
}

// Forget forgets the steps that are remembered, and what is being learnt from them, because objects move otherwise now. The law stays in use until the next,
// and the map stays: its steps fade.
func (l *Learner) Forget() {
	l.worker.Drop()
	l.memory, l.inFlight, l.fresh, l.given = memory{}, false, 0, 0
}

// Reset forgets all.
func (l *Learner) Reset() {
	l.worker.Drop()
	if l.field != nil {
		l.field.Reset()
	}
	*l = Learner{config: l.config, worker: l.worker, frame: l.frame, field: l.field, credit: l.credit}
}

// Close ends the goroutine; in a live run it may end a little later, by itself.
func (l *Learner) Close() {
	wait := ending
	if l.config.Deterministic {
		wait = system.Always
	}
	l.worker.Close(wait)
}
