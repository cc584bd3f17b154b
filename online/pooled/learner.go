// When the law is learnt
//
// The law is learnt from the last 65,536 steps; older steps are forgotten. Learning that begins at frame k uses the steps up to k, and its law comes into use
// Lag frames later. A live run limits learning to a tenth of one core, measured by the clock of its thread (system.Worker): after learning for a processor
// time t, it waits 9t, and at least Lag frames, before it uses the law and begins the next. A recording has a budget of steps: it learns from one step per
// 256 new steps. Each time, the worker also evaluates the map of online/maps, and now and then it compares the kinds of law of online/exact. Steps enter the
// map as they arrive; a step of ten minutes ago counts half in the map.

package pooled

import (
	"time"

	"driftscope/internal/kit/system"
	"driftscope/online/maps"
	"driftscope/online/states"
)

// Config sets up a Learner.
type Config struct {
	Exposure float64 // exposure time of a frame, s
	Depth    float64 // thickness of the slab in focus, px; 0 if unknown
	// Deterministic makes Pass wait for a late law, so the same steps always give the same laws.
	Deterministic bool
}

// Schedule of learning.
const (
	Lag       = 25     // frames between the last frame of the input and the use of the law
	firstLaw  = 200    // steps before the first law; they give D to a tenth
	firstMap  = 10_000 // steps before the map is evaluated: ten per cell of the finest grid
	liveShare = 16     // a live run begins the next law after 1/16 as many new steps as the last law used; a recording after as many as the last law used, so it waits less
)

// The budget of a recording counts steps instead of time, so the same film gives the same laws under any load. Learning takes 5 µs per step with one state,
// and 100 µs if D is spread; following takes 10 µs per step. learntShare is the number of steps of learning per new step; saved is the credit at the start.
// The budget does not apply at the end of a run.
const (
	learntShare = 1.0 / 256
	saved       = 1 << 14
)

// growth is the largest ratio of the steps of the next law to the steps of the last law, in a live run. A fast film of many objects then has a law within a
// second, and a law of all remembered steps some minutes later.
const growth = 4

// Learner learns the law of all objects. Use it from one goroutine.
type Learner struct {
	config   Config
	memory   memory
	field    *maps.Map // nil before the field's size is known
	moves    int       // steps in the map
	fresh    int       // steps since learning last began
	given    int       // steps in the input of the last law
	compared int       // steps in the last comparison of kinds, at most mostCompared; 0 before the first
	since    int       // steps since the last comparison of kinds
	credit   float64   // number of steps that a recording may still learn from
	frame    uint64
	due      uint64
	inFlight bool
	worker   *system.Worker[*Law]
	law      *Law // in use
}

// New returns an empty Learner. Close ends its goroutine.
func New(c Config) *Learner {
	return &Learner{config: c, worker: system.NewWorker[*Law](!c.Deterministic), credit: saved}
}

// Config returns the configuration.
func (l *Learner) Config() Config { return l.config }

// Keep remembers a finished piece of a track.
func (l *Learner) Keep(s states.Segment) { l.memory.keep(s) }

// halfLife is the age in seconds at which a step counts half in the map. A flow of an hour ago has faded; a trap stays visible for ten minutes.
const halfLife = 600.0

// Begin sets the size of the field, px, and starts the map. It keeps a restored map of the same size.
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

// Move adds a step to the map, at its position.
func (l *Learner) Move(s *maps.Step) {
	if l.field != nil {
		l.field.Add(s)
		l.moves++
	}
}

// Elapse ages the map by the given number of seconds.
func (l *Learner) Elapse(seconds float64) {
	if l.field != nil {
		l.field.Pass(seconds)
	}
}

// Count records new steps.
func (l *Learner) Count(steps int) {
	l.fresh, l.since = l.fresh+steps, l.since+steps
	l.credit = min(l.credit+learntShare*float64(steps), mostSteps)
}

// Law returns the law in use, or nil before the first.
func (l *Learner) Law() *Law { return l.law }

// Pass ends frame seq. It uses a finished law once it is due, and begins the next if the schedule allows it. live returns the pieces of live objects. Pass
// returns true if the law in use changed.
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
		l.begin(seq, live(), most, false)
	}
	return changed
}

// worth reports whether there are enough new steps, and enough budget, for another law.
func (l *Learner) worth() bool {
	if !l.config.Deterministic {
		return l.fresh >= max(firstLaw, l.given/liveShare) && l.worker.Rested()
	}
	return l.fresh >= max(firstLaw, l.given) && l.credit >= float64(min(l.given+l.fresh, mostSteps))
}

// A comparison of kinds takes a millisecond per step, so it is rare. The next one follows after growth times as many new steps as the last one used, or after
// mostSince steps once it has used mostCompared. A recording has no pause after a comparison, and its frames wait for seconds, so it then compares after
// rarer times as many steps.
const (
	mostSince = 1 << 18
	rarer     = 8
)

// compares reports whether the next job compares the kinds of law. last means the end of a run: there a recording needs fewer new steps, and a live run has
// no time for a comparison after the first.
func (l *Learner) compares(last bool) bool {
	least := growth * l.compared
	if l.compared >= mostCompared {
		least = mostSince
	}
	switch {
	case l.config.Deterministic && last:
		least /= growth * growth
	case l.config.Deterministic && l.compared >= mostCompared:
		least *= rarer
	}
	return l.compared == 0 || !(last && !l.config.Deterministic) && l.since >= least
}

// use makes law the law in use.
func (l *Learner) use(law *Law) (changed bool) {
	l.inFlight = false
	if law == nil {
		return false
	}
	l.law = law
	return true
}

// begin starts learning from about most of the remembered steps, or from all if most is 0. last means that no frame follows.
func (l *Learner) begin(seq uint64, live []states.Segment, most int, last bool) {
	o := order{live: !l.config.Deterministic, compare: l.compares(last), seq: seq, segments: thin(l.memory.with(live), most), options: states.Options{Exposure: l.config.Exposure, Depth: l.config.Depth}}
	if l.field != nil && l.moves >= firstMap {
		o.field = l.field.Clone()
	}
	if l.law != nil {
		o.before = *l.law
	}
	l.worker.Begin(func(pause func()) *Law { return learn(o, pause) })
	l.given = 0
	for i := range o.segments {
		l.given += len(o.segments[i].Steps)
	}
	if o.compare {
		l.compared, l.since = min(l.given, mostCompared), 0
	}
	l.inFlight, l.due, l.fresh, l.credit = true, l.frame+Lag, 0, max(l.credit-float64(l.given), 0)
}

// ending is the longest wait of a live run for a law at its end. The run waits at most twice and must end within its grace period. A recording waits until
// the law is ready, so the result is always the same.
const ending = 500 * time.Millisecond

// patience returns the longest wait of Finish for a law.
func (l *Learner) patience() time.Duration {
	if l.config.Deterministic {
		return system.Always
	}
	return ending
}

// Finish learns from the new steps after the last frame, seq. It waits for the result, in a live run only briefly, and returns true if the law changed.
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
	l.begin(seq, live, 0, true)
	law, ok := l.worker.Take(l.patience())
	return ok && l.use(law) || changed
}

// Forget drops the remembered steps and any law being learnt, because the objects move differently now. The law stays in use until the next one. The map
// stays too, because its steps fade.
func (l *Learner) Forget() {
	l.worker.Drop()
	l.memory, l.inFlight, l.fresh, l.given, l.compared = memory{}, false, 0, 0, 0
}

// Reset clears everything.
func (l *Learner) Reset() {
	l.worker.Drop()
	if l.field != nil {
		l.field.Reset()
	}
	*l = Learner{config: l.config, worker: l.worker, frame: l.frame, field: l.field, credit: l.credit}
}

// Close ends the goroutine. In a live run the goroutine may end a little later.
func (l *Learner) Close() {
	wait := ending
	if l.config.Deterministic {
		wait = system.Always
	}
	l.worker.Close(wait)
}
