package objects

import (
	"fmt"
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/pooled"
	"driftscope/online/population"
)

func sqrt(v float64) float64 { return math.Sqrt(max(v, 0)) }

// population returns the population of the last frame. last reports that none follows.
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
	e.reports = append(e.reports, p)
	if e.leave(latent.RunEnded, math.MaxInt); e.law.learner != nil {
		e.verdicts.finish(e.tellEnd)
		p.Unjudged = e.verdicts.unjudged
	}
	return e.reports
}

// Bounds of links_uncertain: the shares of wrong and of unknown links that begin it, and the least links in the window. The window forgets 2 % per frame.
const (
	mostWrong    = 0.05
	mostUnlinked = 0.5
	leastLinks   = 100
	linksKept    = 0.98
)

// links counts the links of the last frames.
type links struct{ wrong, known, unknown float64 } // expected wrong ones; ones of known and of unknown probability

func (l *links) add(link float64) {
	if math.IsNaN(link) {
		l.unknown++
		return
	}
	l.wrong, l.known = l.wrong+1-link, l.known+1
}

func (l *links) fade() {
	l.wrong, l.known, l.unknown = linksKept*l.wrong, linksKept*l.known, linksKept*l.unknown
}

// shares returns the expected share of wrong links among the known ones, and the share of unknown ones; NaN without links.
func (l *links) shares() (wrong, unknown float64) {
	return l.wrong / l.known, l.unknown / (l.known + l.unknown)
}

// patience is the number of frames for which a condition holds before its alarm begins, or is absent before it ends: half a second at 50 frames/s.
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
	return alarms{none: condition{after: patience}, many: condition{after: 1}, links: condition{after: patience}, population: [populationChanges]condition{{after: 1}, {after: 1}}}
}

// condition is the trigger of an alarm.
type condition struct {
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

// look updates the alarms with a frame and its number of followed objects.
func (a *alarms) look(z *latent.Sight, followed int, l *links) {
	s := &z.Spots
	if a.none.see(followed == 0 && len(s.Found) == 0) {
		text := "no object is visible above the noise: check light and focus; if objects are wider than a twelfth of the picture, or than 32 px, bin the pictures or set objects.template_px"
		if z.Light == 0 {
			text = "the picture is uniform: check the light, the shutter and the exposure"
		}
		a.tell(z, latent.NoObjects, &a.none, text)
	}
	if a.many.see(s.Left > 0) {
		a.tell(z, latent.TooManyObjects, &a.many, fmt.Sprintf("%d spots exceed objects.max, or the limit for a wide template, and the faintest are left out: raise objects.max, or check whether the film shows only noise", s.Left))
	}
	wrong, unknown := l.shares()
	if a.links.see(l.known+l.unknown > leastLinks && (wrong > mostWrong || unknown > mostUnlinked)) {
		a.tell(z, latent.LinksUncertain, &a.links, fmt.Sprintf("%.0f %% of the steps between frames are expected to join two objects, and %.0f %% are unknown: record faster, or label fewer objects; driftscope law --certain uses only certain steps", 100*wrong, 100*unknown))
	}
	a.on = a.on[:0]
	if a.none.rings {
		a.on = append(a.on, latent.NoObjects)
	}
	if a.many.rings {
		a.on = append(a.on, latent.TooManyObjects)
	}
	if a.links.rings {
		a.on = append(a.on, latent.LinksUncertain)
	}
}

// tell adds the event that begins or ends an alarm.
func (a *alarms) tell(z *latent.Sight, code string, c *condition, text string) {
	event := latent.Event{Seq: z.Seq, Time: z.Time, Level: latent.Warning, Code: code, Text: text, Count: 1}
	if !c.rings {
		event.Level, event.Text = latent.Info, fmt.Sprintf("over: absent in the last %d frames", patience)
	}
	a.events = append(a.events, event)
}
