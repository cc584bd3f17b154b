package objects

import (
	"fmt"
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/pooled"
	"driftscope/online/population"
)

func sqrt(v float64) float64 { return math.Sqrt(max(v, 0)) }

// population returns the population of the last frame. last reports that no further population follows.
func (e *Estimator) population(last bool) *latent.Population {
	z, none := &e.last, math.NaN()
	p := &latent.Population{Seq: z.Seq, Time: z.Time, Spots: e.spots, Births: e.known.births, Deaths: e.known.deaths, Template: z.Spots.Template,
		Edges: pooled.Edges(), Spectrum: make([]float64, pooled.Bins), CommonX: e.known.common.X, CommonY: e.known.common.Y, CommonSD: e.known.common.SD, ShiftX: e.known.shiftX, ShiftY: e.known.shiftY}
	p.Tracks, p.Steps, p.Unjudged, p.Unweighed = e.known.tracks, e.known.steps, e.verdicts.unjudged, e.law.unweighed
	for _, id := range e.ids {
		k := e.live[id]
		if !k.confirmed {
			continue
		}
		if n := k.law.Steps(); n > 0 {
			p.Tracks, p.Steps = p.Tracks+1, p.Steps+n
		}
		if k.frame == e.frame {
			p.Count++
			if k.runs {
				p.DirectedN++
			}
		}
	}
	p.Wrong, p.Unlinked = e.links.shares()
	p.Faster, p.Slower = e.wrongAt(0.5), e.wrongAt(2)
	area := float64(e.size[0]) * float64(e.size[1])
	p.PerPixel = float64(p.Count) / area
	if a := e.config.PixelUM * e.config.PixelUM; a > 0 {
		p.PerUM = p.PerPixel / a
	}
	if e.known.chances > 0 {
		p.Detected = e.known.hits / e.known.chances
	}
	d := population.Diffusion{D: none, Low: none, High: none, Noise: none}
	if p.Law = e.describe(); p.Law != nil {
		l := e.law.learner.Law()
		m := l.Mixture
		d = population.Diffusion{D: m.D.Value, Low: m.D.Low, High: m.D.High, Noise: m.Noise}
		copy(p.Spectrum, l.Spectrum[:])
		e.tellMap(p, l, last)
	}
	p.Noise, p.Pairs = d.Noise, e.pairs.force()
	p.Px, p.UM = e.ranges(d)
	return p
}

// Last returns the messages at the end of a run: the held frames, the population, and every live object.
func (e *Estimator) Last() []latent.Message {
	e.reports = e.reports[:0]
	e.flush()
	if e.tracker == nil {
		return e.reports
	}
	if l := &e.law; l.learner != nil && !e.frozen && l.learner.Finish(e.last.Seq, e.pieces()) {
		e.adopt()
	}
	p := e.population(true)
	e.reports, e.trackable = append(e.reports, p), e.trackability()
	if e.leave(latent.RunEnded, math.MaxInt); e.law.learner != nil {
		e.verdicts.finish(e.tellEnd)
		p.Unjudged = e.verdicts.unjudged
	}
	return e.reports
}

// Thresholds of the alarm links_uncertain: the fractions of wrong and of unknown links that begin it, and the least number of links in the window. The window
// forgets 2 % per frame.
const (
	mostWrong    = 0.05
	mostUnlinked = 0.5
	leastLinks   = 100
	linksKept    = 0.98
)

// links counts the links of the last frames.
type links struct{ wrong, known, unknown float64 } // expected wrong links; links with known and with unknown probability

func (l *links) add(link float64) {
	if math.IsNaN(link) {
		l.unknown++
		return
	}
	l.wrong, l.known = l.wrong+1-link, l.known+1
}

// shares returns the expected fraction of wrong links among those with known probability, and the fraction with unknown probability. Both are NaN without
// links.
func (l *links) shares() (wrong, unknown float64) {
	return l.wrong / l.known, l.unknown / (l.known + l.unknown)
}

// wrongAt returns the expected fraction of wrong links at k times the frame interval, or NaN if most links have unknown probability.
func (e *Estimator) wrongAt(k float64) float64 {
	wrong, unknown := e.links.shares()
	if e.tracker == nil || !(unknown <= mostUnlinked) {
		return math.NaN()
	}
	odds := wrong / (1 - wrong) * e.tracker.Crowding(k)
	return odds / (1 + odds)
}

// trackability describes how certain the recent links are, and how certain they would be at twice the frame rate. It returns "" after too few links.
func (e *Estimator) trackability() string {
	l := &e.links
	all := l.known + l.unknown
	if all <= leastLinks {
		return ""
	}
	text := fmt.Sprintf("%.3g %% of the steps between frames are expected to join two objects, and for %.3g %% this is unknown", 100*l.wrong/all, 100*l.unknown/all)
	if rate, faster := 1/e.pace.interval, e.wrongAt(0.5); faster >= 0 && !math.IsInf(rate, 1) {
		text += fmt.Sprintf("; at %.3g frames/s instead of %.3g, %.3g %% would join two objects", 2*rate, rate, 100*faster*l.known/all)
	}
	return text
}

// Trackability returns a sentence on how certain the links were at the end of the run, or "" after too few links.
func (e *Estimator) Trackability() string { return e.trackable }

// patience is the number of frames for which a condition must hold before its alarm begins, or be absent before the alarm ends: half a second at 50 frames/s.
const patience = 25

// alarms reports a field without objects, a field with too many, and a changed law of all objects.
type alarms struct {
	none, many condition
	links      condition
	population [populationChanges]condition
	on         []string // codes
	events     []latent.Event
}

func newAlarms() alarms {
	return alarms{none: condition{code: latent.NoObjects, after: patience}, many: condition{code: latent.TooManyObjects, after: 1}, links: condition{code: latent.LinksUncertain, after: patience},
		population: [populationChanges]condition{{code: latent.PopulationDiffusionChanged, after: 1}, {code: latent.PopulationMixtureChanged, after: 1}}}
}

// condition is the trigger of an alarm.
type condition struct {
	code       string
	after      int // frames in a row before the alarm begins
	held, away int // frames in a row
	rings      bool
}

// see records whether the condition holds in a frame, and returns true if the alarm begins or ends.
func (c *condition) see(is bool) (changed bool) {
	if is {
		c.held, c.away = c.held+1, 0
	} else {
		c.held, c.away = 0, c.away+1
	}
	if !c.rings && c.held >= c.after || c.rings && c.away >= patience {
		c.rings = !c.rings
		return true
	}
	return false
}

// look updates the alarms with a frame. followed is its number of objects.
func (e *Estimator) look(z *latent.Sight, followed int) {
	a, s, l := &e.alarms, &z.Spots, &e.links
	a.on = a.on[:0]
	a.tell(z, &a.none, followed == 0 && len(s.Found) == 0, over, func() string {
		if z.Light == 0 {
			return "the picture is uniform: check the light, the shutter and the exposure"
		}
		return "no object is visible above the noise: check light and focus; if objects are wider than 32 px or than a twelfth of the picture, bin the pictures or set objects.template_px"
	})
	a.tell(z, &a.many, s.Left > 0, over, func() string {
		return fmt.Sprintf("the %d faintest spots are left out, because there are more than objects.max or the limit for a wide template: raise objects.max, or check whether the film shows only noise", s.Left)
	})
	l.wrong, l.known, l.unknown = linksKept*l.wrong, linksKept*l.known, linksKept*l.unknown
	wrong, unknown := l.shares()
	a.tell(z, &a.links, l.known+l.unknown > leastLinks && (wrong > mostWrong || unknown > mostUnlinked), over, func() string {
		return e.trackability() + ": record faster, or label fewer objects; driftscope law --certain uses only certain steps"
	})
}

func over() string { return fmt.Sprintf("over: the cause was absent in the last %d frames", patience) }

// tell lists an alarm if it is on, and adds an event when it begins or ends, with the text of begins or ends. is reports whether its condition holds in this
// frame.
func (a *alarms) tell(z *latent.Sight, c *condition, is bool, ends, begins func() string) {
	switch changed := c.see(is); {
	case changed && c.rings:
		a.events = append(a.events, latent.Event{Seq: z.Seq, Time: z.Time, Level: latent.Warning, Code: c.code, Text: begins(), Count: 1})
	case changed:
		a.events = append(a.events, latent.Event{Seq: z.Seq, Time: z.Time, Level: latent.Info, Code: c.code, Text: ends(), Count: 1})
	}
	if c.rings {
		a.on = append(a.on, c.code)
	}
}
