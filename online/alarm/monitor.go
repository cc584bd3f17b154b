package alarm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// kind is one of the alarms.
type kind int

const (
	driftChanged kind = iota
	diffusionChanged
	unlikeTraining
	objectLost
	bleached
	tooFewDimensions
	kinds
)

// codes are those of the alarms' events, one of level warning when an alarm begins and one of level info when it is over.
var codes = [kinds]string{
	latent.DriftChanged, latent.DiffusionChanged, latent.UnlikeTraining, latent.ObjectLost, latent.Bleached, latent.TooFewDimensions,
}

// When alarms begin and end.
const (
	clearShare     = 0.01 // of the evidence at which an alarm about the law began: below it the alarm is over
	clearAfter     = 10   // frames without cause after which an alarm about frames is over
	lostAfter      = 5    // frames held in a row
	lightFrames    = 50   // frames whose light is the first level, and over which the present one is averaged
	bleachedShare  = 0.5  // of the first level of light, at which bleached begins
	recoveredShare = 0.6  // at which it is over
)

// Evidence is how strongly the latents speak for a law that has changed: mean likelihood ratios of Shiryaev and Roberts, in frames,
// doc.go (16). An alarm begins where one exceeds the frames between false alarms.
type Evidence struct {
	Drift     float64
	Diffusion float64
}

// Monitor watches the law, the frames and the light. Its methods are called from one goroutine, and allocate only where an alarm begins or
// ends.
type Monitor struct {
	frames  *frames
	changes *changes
	every   float64 // frames between false alarms, at least
	largest float64 // χ² that is exceeded once in as many

	on       [kinds]bool
	reported [kinds]bool   // by events; a state that is restored may have others on
	quiet    [kinds]uint64 // frames without cause

	lit          uint64  // frames whose light is known
	first, light float64 // grey values: at first, and now
	evidence     Evidence
	hidden       float64 // evidence of a coordinate that the latents do not show, in frames, as of the last slice of refinement

	events []latent.Event // of the last Update
}

// Config is what a Monitor is made from.
type Config struct {
	Dim       int
	Every     float64   // frames between false alarms, at least
	TrainMean []float64 // of the latents that the model was trained on, a dimension; nil: not known
	TrainSD   []float64 // their sd
}

// NewMonitor gives a Monitor that has seen nothing.
func NewMonitor(c Config) *Monitor {
	return &Monitor{
		frames: newFrames(c), changes: newChanges(c.Dim), every: c.Every,
		largest: distuv.ChiSquared{K: float64(c.Dim)}.Quantile(1 - 1/c.Every),
		events:  make([]latent.Event, 0, kinds),
	}
}

// Limit is the NIS that is exceeded once in every frames, where the variances are known from n transitions:
//
//	n(e^(χ²/n) - 1)
//
// which is exact for Fisher's distribution with (2, n) degrees of freedom; with too few of them anything is believed.
func (m *Monitor) Limit(n float64) float64 {
	if n < diffusion.DecideAfter {
		return math.Inf(1)
	}
	return n * math.Expm1(m.largest/n)
}

// Judge is the verdict on a frame that the law forecast.
func (m *Monitor) Judge(f Frame, found []diffusion.Estimate) Verdict { return m.frames.judge(f, found) }

// Begin is the verdict on the first frame of a trajectory, or on one after others that were held since that.
func (m *Monitor) Begin(f Frame, found []diffusion.Estimate) Verdict { return m.frames.begin(f, found) }

// Waiting says whether all frames of the trajectory so far were held: the next may still be the one it begins with.
func (m *Monitor) Waiting() bool { return m.frames.waiting() }

// Look judges a frame that is not learnt from whatever it is like, while the law is frozen: by itself, because nothing forecasts it.
func (m *Monitor) Look(mean, sd []float64) { m.frames.look(mean, sd) }

// TakeHeld gives the time of the frames held since the last that was believed, s, which makes the next step longer, and forgets it.
func (m *Monitor) TakeHeld() float64 {
	held := m.frames.held
	m.frames.held = 0
	return held
}

// Start begins a trajectory at a measurement. What earlier ones have told stays told.
func (m *Monitor) Start(mean []float64, found []diffusion.Estimate) { m.changes.start(mean, found) }

// Step folds in a measurement, dt after the last, under the law found, whose drift is linear.
func (m *Monitor) Step(mean []float64, dt float64, t *drift.Tangent, found []diffusion.Estimate) {
	m.changes.step(mean, dt, t, found)
}

// Weigh renews the evidence by the last Step, of a law found in n transitions of seconds in all.
func (m *Monitor) Weigh(found []diffusion.Estimate, activity []latent.Activity, n, seconds float64) {
	m.changes.weigh(found, activity, n, seconds)
	active := 0
	for _, a := range activity {
		if a == latent.Active {
			active++
		}
	}
	m.evidence = m.changes.evidence(active)
}

// Asked says of which dimensions the drift in use was learnt, be it none: of those that were active then. A change of the others' diffusion is not looked for,
// because what a drift does that nobody has asked for looks like diffusion, and like less of it once it is known.
func (m *Monitor) Asked(activity []latent.Activity) {
	for i, a := range activity {
		m.changes.asked[i] = a == latent.Active
	}
}

// Hidden sets the evidence of a coordinate that the latents do not show, in frames.
func (m *Monitor) Hidden(evidence float64) { m.hidden = evidence }

// Light averages the light of a frame, in grey values, where that is known.
func (m *Monitor) Light(light float64) {
	if !(light > 0) {
		return
	}
	m.lit++
	m.light += (light - m.light) / float64(min(m.lit, lightFrames))
	if m.lit == lightFrames {
		m.first = m.light
	}
}

// Update begins and ends alarms after frame z, and reports in Events what is no longer as reported.
func (m *Monitor) Update(z *latent.Latent) {
	m.events = m.events[:0]
	f := m.frames
	m.byEvidence(driftChanged, m.evidence.Drift)
	m.byEvidence(diffusionChanged, m.evidence.Diffusion)
	m.byEvidence(tooFewDimensions, m.hidden)
	m.byCause(unlikeTraining, f.strange, f.strange)
	m.byCause(objectLost, f.heldInRow >= lostAfter, f.heldInRow > 0)
	dark := m.lit >= lightFrames && m.light < bleachedShare*m.first
	if on := m.on[bleached]; !on && dark || on && m.light > recoveredShare*m.first {
		m.on[bleached] = dark
	}
	for k, on := range m.on {
		if on != m.reported[k] {
			m.report(kind(k), z)
		}
	}
}

// byEvidence switches an alarm by its evidence.
func (m *Monitor) byEvidence(k kind, evidence float64) {
	if on := m.on[k]; !on && evidence > m.every || on && evidence < clearShare*m.every {
		m.on[k] = !on
	}
}

// byCause switches an alarm on at a cause, and off after a while without so much as a trace of one.
func (m *Monitor) byCause(k kind, cause, trace bool) {
	m.quiet[k]++
	if trace {
		m.quiet[k] = 0
	}
	if on := m.on[k]; !on && cause || on && m.quiet[k] >= clearAfter {
		m.on[k] = !on
	}
}

// report adds an event that says whether an alarm is on.
func (m *Monitor) report(k kind, z *latent.Latent) {
	m.reported[k] = m.on[k]
	e := latent.Event{Seq: z.Seq, Time: z.Time, Level: latent.Warning, Code: codes[k], Count: 1}
	if m.on[k] {
		e.Text = m.onsetText(k)
	} else {
		e.Level, e.Text = latent.Info, endTexts[k]
	}
	m.events = append(m.events, e)
}

// Events are the alarms that began or ended with the last Update. They are lent until the next one.
func (m *Monitor) Events() []latent.Event { return m.events }

// Evidence is that of the last Weigh.
func (m *Monitor) Evidence() Evidence { return m.evidence }

// TooFew says whether the alarm about a coordinate that the latents do not show is on.
func (m *Monitor) TooFew() bool { return m.on[tooFewDimensions] }

// Codes appends the codes of the alarms that are on to dst.
func (m *Monitor) Codes(dst []string) []string {
	for k, on := range m.on {
		if on {
			dst = append(dst, codes[k])
		}
	}
	return dst
}

// Forgotten is for a Monitor that takes another's place because all was forgotten: alarms that are on stay so until there is no cause.
func (m *Monitor) Forgotten(before *Monitor) { m.on, m.reported = before.on, before.reported }

// Restored is for a Monitor that takes another's place from a checkpoint: the next Update reports what is not as reported before.
func (m *Monitor) Restored(before *Monitor) { m.reported = before.reported }

// onsetText says what has happened, and what to do.
func (m *Monitor) onsetText(k kind) string {
	drifts, diffuses, more := m.changes.suspects()
	switch k {
	case driftChanged:
		return fmt.Sprintf("the drift differs from the law, most along z%d: look for a change in the experiment; earlier data are dropped once the change is certain, or at once by reset", drifts+1)
	case diffusionChanged:
		than := map[bool]string{true: "higher", false: "lower"}[more]
		return fmt.Sprintf("diffusion or noise along z%d is %s than learnt: check temperature, focus and light; send reset to learn the new law", diffuses+1, than)
	case unlikeTraining:
		return "this frame is unlike the training, and the law skips it: if more follow, check focus and light, or train a new model"
	case objectLost:
		return fmt.Sprintf("the object was not found in %d frames in a row: bring it back into the region", lostAfter)
	case tooFewDimensions:
		return "a hidden variable drives the latents: look for what else moves or changes, and train with one more latent"
	}
	return fmt.Sprintf("the light fell from %.3g to %.3g grey values: raise the excitation, or use a fresh sample", m.first, m.light)
}

// endTexts say how each alarm ended.
var endTexts = [kinds]string{
	"over: the drift agrees with the law again; nothing to do",
	"over: the diffusion agrees with the law again; nothing to do",
	"over: frames resemble the training again, or the law has adapted to them; nothing to do",
	"over: the law learns from the frames again; nothing to do",
	"over: the light is back; nothing to do",
	"over: the latents explain their motion again; nothing to do",
}

// Archive passes on what was seen, and which alarms are on. What was reported is not part of it.
func (m *Monitor) Archive(a *archive.Codec) {
	m.frames.archive(a)
	m.changes.archive(a)
	for k := range m.on {
		a.Bool(&m.on[k])
		a.Uint(&m.quiet[k])
	}
	a.Uint(&m.lit)
	a.Magnitudes(&m.first, &m.light, &m.evidence.Drift, &m.evidence.Diffusion, &m.hidden)
}
