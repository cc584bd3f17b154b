package online

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"driftscope/internal/latent"
)

// The alarms. Their codes are those of their events, one of level warning when they begin and one of level info when they are over.
const (
	driftChanged = iota
	diffusionChanged
	unlikeTraining
	objectLost
	bleached
	tooFewDimensions
	alarmKinds
)

var alarmCodes = [alarmKinds]string{
	latent.DriftChanged, latent.DiffusionChanged, latent.UnlikeTraining, latent.ObjectLost, latent.Bleached, latent.TooFewDimensions,
}

// When alarms begin and end.
const (
	relief     = 0.01 // part of the evidence at which an alarm about the law began, at which it is over
	calm       = 10   // frames without cause after which an alarm about frames is over
	lostAfter  = 5    // frames held in a row
	firstLight = 50   // frames whose light is the first level, and over which the present one is averaged
	faded      = 0.5  // of the first level
	restored   = 0.6
)

// Evidence is how strongly the latents speak for a law that has changed: mean likelihood ratios of Shiryaev and Roberts, in frames,
// doc.go (16). An alarm begins where one exceeds Config.AlarmFrames.
type Evidence struct {
	Drift     float64
	Diffusion float64
}

// alarms watches the law, the frames and the light.
type alarms struct {
	frames  *frames
	changes *changes
	every   float64 // frames between false alarms, at least
	largest float64 // χ² that is exceeded once in as many

	on    [alarmKinds]bool
	told  [alarmKinds]bool   // by events; a state that is restored may have others on
	quiet [alarmKinds]uint64 // frames without cause

	lit          uint64  // frames whose light is known
	first, light float64 // grey values: at first, and now
	Evidence
	hidden float64 // evidence of a coordinate that the latents do not show, in frames, doc.go (22), as of the last slice of refinement

	events []latent.Event // of the last Update
}

func newAlarms(c Config) *alarms {
	return &alarms{
		frames: newFrames(c), changes: newChanges(c.Dim), every: c.AlarmFrames,
		largest: distuv.ChiSquared{K: float64(c.Dim)}.Quantile(1 - 1/c.AlarmFrames),
		events:  make([]latent.Event, 0, alarmKinds),
	}
}

// limit is the NIS that is exceeded once in every frames, where the variances are known from n transitions:
//
//	n(e^(χ²/n) - 1)
//
// which is exact for Fisher's distribution with (2, n) degrees of freedom; with too few of them anything is believed.
func (a *alarms) limit(n float64) float64 {
	if n < decideAfter {
		return math.Inf(1)
	}
	return n * math.Expm1(a.largest/n)
}

// shine averages the light of a frame, in grey values, where that is known.
func (a *alarms) shine(light float64) {
	if !(light > 0) {
		return
	}
	a.lit++
	a.light += (light - a.light) / float64(min(a.lit, firstLight))
	if a.lit == firstLight {
		a.first = a.light
	}
}

// weigh renews the evidence, of so many active dimensions.
func (a *alarms) weigh(active int) {
	a.Evidence = a.changes.evidence(active)
}

// ring begins and ends alarms after frame z, and tells in a.events what is no longer as told.
func (a *alarms) ring(z *latent.Latent) {
	a.events = a.events[:0]
	f := a.frames
	a.law(driftChanged, a.Drift)
	a.law(diffusionChanged, a.Diffusion)
	a.law(tooFewDimensions, a.hidden)
	a.frame(unlikeTraining, f.strange, f.strange)
	a.frame(objectLost, f.row >= lostAfter, f.row > 0)
	dark := a.lit >= firstLight && a.light < faded*a.first
	if on := a.on[bleached]; !on && dark || on && a.light > restored*a.first {
		a.on[bleached] = dark
	}
	for kind, on := range a.on {
		if on != a.told[kind] {
			a.tell(kind, z)
		}
	}
}

// law switches an alarm by its evidence.
func (a *alarms) law(kind int, evidence float64) {
	if on := a.on[kind]; !on && evidence > a.every || on && evidence < relief*a.every {
		a.on[kind] = !on
	}
}

// frame switches an alarm on at a cause, and off after a while without so much as a trace of one.
func (a *alarms) frame(kind int, cause, trace bool) {
	a.quiet[kind]++
	if trace {
		a.quiet[kind] = 0
	}
	if on := a.on[kind]; !on && cause || on && a.quiet[kind] >= calm {
		a.on[kind] = !on
	}
}

// tell has an event say whether an alarm is on.
func (a *alarms) tell(kind int, z *latent.Latent) {
	a.told[kind] = a.on[kind]
	e := latent.Event{Seq: z.Seq, Time: z.Time, Level: latent.Warning, Code: alarmCodes[kind], Count: 1}
	if a.on[kind] {
		e.Text = a.begun(kind)
	} else {
		e.Level, e.Text = latent.Info, over[kind]
	}
	a.events = append(a.events, e)
}

// ringing appends the codes of the alarms that are on to dst.
func (a *alarms) ringing(dst []string) []string {
	for kind, on := range a.on {
		if on {
			dst = append(dst, alarmCodes[kind])
		}
	}
	return dst
}

// begun says what has happened, and what to do.
func (a *alarms) begun(kind int) string {
	drifts, diffuses, more := a.changes.suspects()
	switch kind {
	case driftChanged:
		return fmt.Sprintf("the latents drift unlike the law says, z%d most of all: look what changed; what came before is forgotten once that is certain, or at once by reset", drifts+1)
	case diffusionChanged:
		than := map[bool]string{true: "more", false: "less"}[more]
		return fmt.Sprintf("z%d, or the noise in it, moves %s than the law says: check temperature, focus and light, and reset to learn the new law", diffuses+1, than)
	case unlikeTraining:
		return "a frame is unlike those that model and law were learnt from, and is left out: if more come, check focus and light, or train anew"
	case objectLost:
		return fmt.Sprintf("%d frames in a row show nothing that the model knows where it is expected: bring the object back into the region", lostAfter)
	case tooFewDimensions:
		return "something that the latents do not show drives them: look what else moves or changes, and train with one dimension more"
	}
	return fmt.Sprintf("the picture's light fell from %.3g to %.3g grey values: raise the excitation, or take a fresh sample", a.first, a.light)
}

// over says how an alarm ended.
var over = [alarmKinds]string{
	"over: the latents move by the drift as it is now known, nothing to do",
	"over: the latents move as much as the law now says, nothing to do",
	"over: frames are like those learnt from, or have been so for long that they are the new normal; nothing to do",
	"over: frames follow from each other again and are learnt from, nothing to do",
	"over: the light is back, nothing to do",
	"over: the latents again explain how they move, nothing to do",
}

func (a *alarms) archive(to *archive) {
	a.frames.archive(to)
	a.changes.archive(to)
	for k := range a.on {
		to.bool(&a.on[k])
		to.uint(&a.quiet[k])
	}
	to.uint(&a.lit)
	to.magnitudes(&a.first, &a.light, &a.Drift, &a.Diffusion, &a.hidden)
}
