package trigger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"driftscope/internal/flow/latent"
)

// The values of the option object that are not numbers.
const (
	anyObject     = "any"     // every object, separately
	nearestObject = "nearest" // the object nearest to the middle of the picture
)

// perObject lists the kinds of rule that need only a position.
var perObject = []string{"speed", "zone"}

// ofObjects evaluates a rule's condition for the objects of a field, each as if it were the only object. The object's position in px serves as latent and as
// centroid.
type ofObjects struct {
	which   string
	number  uint64
	certain float64
	make    func() *Rule
	states  map[uint64]*objectState
	frame   uint64
	gone    []uint64
	single  latent.Estimate // reused
}

// objectState is the state of the rule for one object.
type objectState struct {
	rule *Rule
	seen uint64 // last frame with the object, as ofObjects counts frames
	cuts uint64 // number of uncertain links; no speed is computed across them
	last latent.Estimate
}

// newOfObjects parses the option object of a rule. make_ makes a rule for one object.
func newOfObjects(kind, which string, env Env, make_ func() *Rule) (*ofObjects, error) {
	if !env.Field {
		return nil, errors.New("object: only for a stream that tracks objects: set objects.enabled, or leave object out")
	}
	if !slices.Contains(perObject, kind) {
		return nil, fmt.Errorf("object: only for rules of the kinds %v: leave object out, and follow the object instead", perObject)
	}
	o := &ofObjects{which: which, make: make_, states: map[uint64]*objectState{}}
	if which == anyObject || which == nearestObject {
		return o, nil
	}
	var err error
	if o.number, err = strconv.ParseUint(which, 10, 64); err != nil || o.number == 0 {
		return nil, fmt.Errorf("object: found %.40q, expected any, nearest or the number of an object", which)
	}
	return o, nil
}

// watch appends the triggers of one frame in the order of the objects' numbers. Then it appends the triggers for conditions that end because their object has
// ended.
func (o *ofObjects) watch(e *latent.Estimate, triggers []*latent.Trigger) []*latent.Trigger {
	o.frame++
	all := e.Objects
	if o.which == nearestObject {
		if i := nearest(all); i >= 0 {
			triggers = o.ask(e, i, 0, triggers)
		}
		return triggers
	}
	for i, id := range all.ID {
		if o.which == anyObject || id == o.number {
			triggers = o.ask(e, i, id, triggers)
		}
	}
	return o.bury(e, triggers)
}

// ask evaluates the rule with the given key for object i. If the object was not detected, the rule stays unchanged.
func (o *ofObjects) ask(e *latent.Estimate, i int, key uint64, triggers []*latent.Trigger) []*latent.Trigger {
	s := o.states[key]
	if s == nil {
		s = &objectState{rule: o.make()}
		o.states[key] = s
	}
	s.seen = o.frame
	if !e.Objects.Here(i) {
		return triggers
	}
	if o.certain > 0 && !(e.Objects.Link[i] >= o.certain) { // also true if Link is NaN
		s.cuts++
		return triggers
	}
	o.alone(e, i)
	o.single.Latent.Trajectory += s.cuts << 40
	if t := s.rule.look(&o.single); t != nil {
		t.Object = e.Objects.ID[i]
		triggers = append(triggers, t)
	}
	if s.rule.on {
		s.last.Copy(&o.single)
	}
	return triggers
}

// alone writes an estimate with object i as the only object into o.single.
func (o *ofObjects) alone(e *latent.Estimate, i int) {
	all, s := e.Objects, &o.single
	s.Latent.Reset(2)
	s.Latent.Seq, s.Latent.Time, s.Latent.Trajectory = e.Latent.Seq, e.Latent.Time, all.ID[i]
	s.Filtered, s.FilteredSD = latent.Resize(s.Filtered, 2), latent.Resize(s.FilteredSD, 2)
	for axis, at := range [2]float64{all.X[i], all.Y[i]} {
		s.Latent.Mean[axis], s.Latent.SD[axis], s.Filtered[axis], s.FilteredSD[axis] = at, all.SD[i], at, all.SD[i]
	}
	s.Latent.Centroid = append(s.Latent.Centroid[:0], all.X[i], all.Y[i])
	s.Lead, s.Ahead, s.AheadSD = e.Lead, s.Ahead[:0], s.AheadSD[:0]
	if e.Lead > 0 { // the object diffuses: its expected position stays, and its variance grows by 2Dt
		sd := math.Sqrt(all.SD[i]*all.SD[i] + 2*all.D[i]*e.Lead)
		s.Ahead, s.AheadSD = append(s.Ahead, all.X[i], all.Y[i]), append(s.AheadSD, sd, sd)
	}
}

// bury removes ended objects, and ends the conditions that were on for them.
func (o *ofObjects) bury(e *latent.Estimate, triggers []*latent.Trigger) []*latent.Trigger {
	o.gone = o.gone[:0]
	for id, s := range o.states {
		if s.seen != o.frame {
			o.gone = append(o.gone, id)
		}
	}
	slices.Sort(o.gone)
	for _, id := range o.gone {
		s := o.states[id]
		delete(o.states, id)
		if !s.rule.on {
			continue
		}
		s.rule.on = false
		s.last.Latent.Seq, s.last.Latent.Time = e.Latent.Seq, e.Latent.Time
		t := s.rule.trigger(&s.last, math.NaN())
		t.Object = id
		triggers = append(triggers, t)
	}
	return triggers
}

// nearest returns the detected object nearest to the middle of the picture, or -1 if there is none.
func nearest(all *latent.Objects) int {
	best, least := -1, math.Inf(1)
	x, y := float64(all.Width-1)/2, float64(all.Height-1)/2
	for i := range all.ID {
		if d := math.Hypot(all.X[i]-x, all.Y[i]-y); d < least && all.Here(i) {
			best, least = i, d
		}
	}
	return best
}
