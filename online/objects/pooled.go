package objects

import (
	"math"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/change"
	"driftscope/online/exact"
	"driftscope/online/maps"
	"driftscope/online/pooled"
	"driftscope/online/population"
	"driftscope/online/states"
)

// law holds the law of all objects, learnt from their steps.
type law struct {
	exposure float64
	learner  *pooled.Learner // nil if no law of all objects is learnt
	model    *model          // model of the states; nil with one state, or before the first law
	changed  changed         // evidence for a change

	unweighed uint64 // steps not tested for a change, because a frame had too many steps
}

// path is the path of an object, without the common motion, as the law of all objects uses it.
type path struct {
	x, y     float64          // px
	variance float64          // localisation variance of the last position along an axis, px²
	from     population.Place // last localisation
	before   maps.Before      // the step to from
	trail    pooled.Trail
	change   change.Track
	state    belief
	way      way
	runs     bool // the object moves in a direction
}

// take adds a position of an object, and the step to it if there is one. The steps of an object with directed motion do not count for diffusion, and its
// state is unknown.
func (l *law) take(k *path, s population.Step, step bool, p *population.Place, variance float64) {
	if l.learner == nil {
		return
	}
	if step && p.Weight < 0.5 { // the step more likely joins two objects
		step = false
	}
	switch {
	case step && k.runs:
		k.x, k.y = k.x+s.X, k.y+s.Y
		k.trail.Forget()
		k.before = maps.Before{}
		l.changed.monitor.Cut(&k.change)
	case step:
		l.learner.Move(&maps.Step{X: k.from.X, Y: k.from.Y, DX: s.X, DY: s.Y, DT: s.DT, Variance: (k.variance + variance) / 2, Weight: p.Weight, Before: k.before})
		k.before = maps.Before{DX: s.X, DY: s.Y, Weight: p.Weight}
		k.x, k.y = k.x+s.X, k.y+s.Y
		k.trail.Step(states.Step(s), k.variance, variance, l.learner.Keep)
		l.changed.monitor.Step(&k.change, states.Step(s), k.variance, variance)
		if l.model != nil {
			k.state.step(l.model, states.Step(s), k.variance, variance)
		}
		l.learner.Count(1)
	default:
		k.trail.Cut(l.learner.Keep)
		l.changed.monitor.Cut(&k.change)
		k.x, k.y, k.before = p.X, p.Y, maps.Before{}
		k.way.cut()
		k.state.of = nil
	}
	k.variance, k.from = variance, *p
	k.way.add(spot{k.x, k.y, p.T})
}

// end learns from an ended object. It returns the input for the object's verdict, or nil if there is no law.
func (l *law) end(t *latent.Track, k *path) *ended {
	if l.learner == nil {
		return nil
	}
	piece := k.trail.Cut(l.learner.Keep)
	if l.learner.Law() == nil {
		return nil
	}
	return &ended{track: t, way: k.way, piece: piece}
}

func (l *law) born() {
	if l.learner != nil {
		l.changed.monitor.Born()
	}
}

// tell appends the state probabilities of an object to a column.
func (l *law) tell(column []float64, k *path) []float64 {
	if l.model == nil {
		return column
	}
	if k.runs {
		for range l.model.d {
			column = append(column, math.NaN())
		}
		return column
	}
	if len(k.state.now) != len(l.model.d) {
		return append(column, l.model.share...)
	}
	return append(column, k.state.now...)
}

// states returns the number of states per object in the column of tell.
func (l *law) states() int {
	if l.model == nil {
		return 0
	}
	return len(l.model.d)
}

// pass ends a frame, dt after the previous one, and adopts a new law of all objects if one is due.
func (e *Estimator) pass(z *latent.Sight, dt float64, objects int) {
	l := &e.law
	if l.learner == nil {
		return
	}
	l.changed.monitor.End()
	l.unweighed += l.changed.monitor.Skipped()
	l.learner.Elapse(dt)
	if l.learner.Pass(z.Seq, e.pieces) {
		e.adopt()
	}
	e.verdicts.pass(objects, e.tellEnd)
}

// tellEnd reports the end of an object under the number and time of the last frame, because a verdict is ready some frames after the end.
func (e *Estimator) tellEnd(t *latent.Track) {
	t.Seq, t.Time = e.last.Seq, e.last.Time
	e.reports = append(e.reports, t)
}

// pieces returns the steps of live objects, in ascending order of their numbers.
func (e *Estimator) pieces() (out []states.Segment) {
	for _, id := range e.ids {
		if s, ok := e.live[id].path.trail.Segment(); ok {
			out = append(out, s)
		}
	}
	return out
}

// adopt starts to use the learner's current law. If the number of states changes, the states of objects restart. A law learnt from steps of several frames
// does not apply to single steps: then no object has a state, and no change of the law is reported.
func (e *Estimator) adopt() {
	l := &e.law
	known := l.learner.Law()
	l.model = newModel(known, l.exposure)
	e.verdicts.law, e.verdicts.model = known, l.model
	if known.Mixture.Lag > 1 {
		l.changed = newChanged(l.exposure, l.changed.every)
		return
	}
	l.changed.use(known.Mixture)
}

// describe returns the published law of all objects, or nil before the first.
func (e *Estimator) describe() *latent.PopulationLaw {
	l := &e.law
	if l.learner == nil || l.learner.Law() == nil {
		return nil
	}
	known := l.learner.Law()
	p := &latent.PopulationLaw{Seq: known.Seq, Tracks: uint64(known.Mixture.Tracks), Steps: uint64(known.Mixture.Steps), Spread: latent.Bounds(known.Mixture.Spread), Says: known.Says(e.config.PixelUM)}
	state := func(d, share latent.Bounds, by float64) {
		px, um := e.ranges(population.Diffusion{D: d.Value * by, Low: d.Low * by, High: d.High * by})
		p.States = append(p.States, latent.StateLaw{Px: px, UM: um, Share: share})
	}
	if known.Switching() {
		p.Spread = latent.Bounds{}
		for _, s := range known.Motion.States {
			state(latent.Bounds(s.D), latent.Bounds(s.Share), 1/known.Frame)
		}
	} else {
		for _, s := range known.Mixture.States {
			state(latent.Bounds(s.D), latent.Bounds(s.Fraction), 1)
		}
	}
	if l.model != nil {
		if p.Nats = known.Motion.Gains[exact.Switching]; !known.Switching() {
			p.Nats = min(p.Nats, 0) // readers would take a positive value for a claim
		}
		for _, row := range l.model.leave {
			p.Rates = append(p.Rates, row...)
		}
	}
	return p
}

func (l *law) reset() {
	l.model = nil
	if l.learner != nil {
		l.learner.Reset()
		l.changed = newChanged(l.exposure, l.changed.every)
	}
}

// close ends the learner outside the frame path.
func (l *law) close() {
	if l.learner != nil {
		l.learner.Close()
	}
}

// archive reads or writes the remembered steps, followed by the steps of live objects.
func (l *law) archive(c *archive.Codec, live []states.Segment) {
	learnt := l.learner != nil
	c.Bool(&learnt)
	c.Require(learnt == (l.learner != nil), "the checkpoint has a law of all objects: %v, expected the opposite", learnt)
	if l.learner != nil && c.Err() == nil {
		l.learner.Archive(c, live)
	}
}

// fresh returns an empty learner, or nil if no law of all objects is learnt.
func (l *law) fresh() *pooled.Learner {
	if l.learner == nil {
		return nil
	}
	return pooled.New(l.learner.Config())
}

// again is the interval at which an unchanged map is repeated for late subscribers.
const again = 10 * time.Second

// mapTold is the last published map and its time.
type mapTold struct {
	law *maps.Law
	at  time.Time
}

// tellMap adds the map of the law in use to a population: always its number, and its cells if they changed, were published long ago, or last is set.
func (e *Estimator) tellMap(p *latent.Population, known *pooled.Law, last bool) {
	if known.Map == nil {
		return
	}
	seq := known.Seq
	p.MapSeq = &seq
	since := p.Time.Sub(e.mapTold.at)
	if !last && known.Map == e.mapTold.law && since >= 0 && since < again {
		return
	}
	p.Map, e.mapTold = columns(known.Map, known.Motion != nil && known.Motion.Mapped()), mapTold{known.Map, p.Time}
}

// columns converts a map to columns. claims reports whether the map may name traps, vortices and a flow.
func columns(known *maps.Law, claims bool) *latent.FieldMap {
	m := &latent.FieldMap{}
	if claims {
		m.Says = known.Says()
	}
	for i := range known.Cells {
		c := &known.Cells[i]
		m.X, m.Y, m.Width = append(m.X, c.X+c.Side/2), append(m.Y, c.Y+c.Side/2), append(m.Width, c.Side)
		m.VX, m.VY, m.SD = append(m.VX, c.Drift[0]), append(m.VY, c.Drift[1]), append(m.SD, math.Sqrt((c.SD[0]*c.SD[0]+c.SD[1]*c.SD[1])/2))
		m.D, m.DSD, m.Steps = append(m.D, c.D), append(m.DSD, c.DSD), append(m.Steps, c.Steps)
	}
	return m
}
