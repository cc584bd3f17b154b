// Light
//
//	bleached   the picture's light, averaged over 50 frames, is below half its mean over the first 50; ends above 0.6

package online

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

// codes are the event codes. An alarm begins with an event of level warning and ends with one of level info.
var codes = [kinds]string{
	latent.DriftChanged, latent.DiffusionChanged, latent.UnlikeTraining, latent.ObjectLost, latent.Bleached, latent.TooFewDimensions,
}

// Limits at which alarms begin and end.
const (
	clearShare     = 0.01 // fraction of the evidence at onset below which an alarm about the law ends
	clearAfter     = 10   // frames without cause after which an alarm about frames ends
	lostAfter      = 5    // held frames in a row at which object_lost begins
	lightFrames    = 50   // averaging time of the first and of the current light level, in frames
	bleachedShare  = 0.5  // fraction of the first level at which bleached begins
	recoveredShare = 0.6  // fraction at which bleached ends
)

// Evidence is the evidence for a changed law: mean Shiryaev-Roberts statistics, in frames, (16). An alarm begins when one of them exceeds AlarmConfig.Every.
type Evidence struct {
	Drift     float64
	Diffusion float64
}

// Monitor watches the law, the frames and the light. One goroutine calls its methods. They allocate only when an alarm begins or ends.
type Monitor struct {
	frames  *frames
	changes *changes
	every   float64 // least mean number of frames between false alarms
	largest float64 // χ² exceeded once in every frames

	on       [kinds]bool
	reported [kinds]bool   // alarms that are on according to the published events; may differ from on after a restore
	quiet    [kinds]uint64 // frames without cause

	lit          uint64  // frames with known light
	first, light float64 // first and current light level, grey values
	evidence     Evidence
	hidden       float64 // evidence for a coordinate that the latents do not show, in frames, from the last slice of refinement

	events []latent.Event // events of the last Update
}

// AlarmConfig configures a Monitor.
type AlarmConfig struct {
	Dim       int
	Every     float64   // least mean number of frames between false alarms
	TrainMean []float64 // mean of the training latents per dimension; nil if unknown
	TrainSD   []float64 // their sd
}

// NewMonitor returns a Monitor without data.
func NewMonitor(c AlarmConfig) *Monitor {
	return &Monitor{
		frames: newFrames(c), changes: newChanges(c.Dim), every: c.Every,
		largest: distuv.ChiSquared{K: float64(c.Dim)}.Quantile(1 - 1/c.Every),
		events:  make([]latent.Event, 0, kinds),
	}
}

// Limit returns the NIS that one in m.every frames exceeds, given variances known from n transitions:
//
//	n(e^(χ²/n) - 1)
//
// This is exact for Fisher's distribution with (2, n) degrees of freedom. With too few transitions the limit is infinite.
func (m *Monitor) Limit(n float64) float64 {
	if n < diffusion.DecideAfter {
		return math.Inf(1)
	}
	return n * math.Expm1(m.largest/n)
}

// Judge returns the verdict on a frame that the law forecast.
func (m *Monitor) Judge(f Frame, found []diffusion.Estimate) Verdict { return m.frames.judge(f, found) }

// Begin returns the verdict on the first frame of a trajectory, or on a frame that only held frames precede.
func (m *Monitor) Begin(f Frame, found []diffusion.Estimate) Verdict { return m.frames.begin(f, found) }

// Waiting reports whether all frames of the trajectory so far were held, so that the next frame may begin it.
func (m *Monitor) Waiting() bool { return m.frames.waiting() }

// Look assesses a frame while the law is frozen. The law neither learns from the frame nor forecasts it, so only the frame itself counts.
func (m *Monitor) Look(mean, sd []float64) { m.frames.look(mean, sd) }

// TakeHeld returns and clears the time of the frames held since the last believed one, s. It makes the next step longer.
func (m *Monitor) TakeHeld() float64 {
	held := m.frames.held
	m.frames.held = 0
	return held
}

// Start begins a trajectory at a measurement. The evidence from earlier trajectories stays.
func (m *Monitor) Start(mean []float64, found []diffusion.Estimate) { m.changes.start(mean, found) }

// Step adds a measurement, dt after the last, under the law found, with its drift linearised in t.
func (m *Monitor) Step(mean []float64, dt float64, t *drift.Tangent, found []diffusion.Estimate) {
	m.changes.step(mean, dt, t, found)
}

// Weigh updates the evidence by the last Step. The law was found in n transitions that last seconds in total.
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

// Asked records the active dimensions, from which the current drift, even if zero, was learnt. Changes of diffusion are tested only in them: an unknown drift
// looks like diffusion, and the diffusion seems to fall once the drift is known.
func (m *Monitor) Asked(activity []latent.Activity) {
	for i, a := range activity {
		m.changes.asked[i] = a == latent.Active
	}
}

// Hidden sets the evidence for a coordinate that the latents do not show, in frames.
func (m *Monitor) Hidden(evidence float64) { m.hidden = evidence }

// Light averages the light of a frame, in grey values, if it is known.
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

// Update begins and ends alarms after frame z. Events returns the alarms that changed.
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

// byCause switches an alarm on if there is a cause, and off after clearAfter frames without a trace of one.
func (m *Monitor) byCause(k kind, cause, trace bool) {
	m.quiet[k]++
	if trace {
		m.quiet[k] = 0
	}
	if on := m.on[k]; !on && cause || on && m.quiet[k] >= clearAfter {
		m.on[k] = !on
	}
}

// report adds an event with the alarm's current state.
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

// Events returns the alarms that began or ended in the last Update. They are valid until the next one.
func (m *Monitor) Events() []latent.Event { return m.events }

// Evidence returns the evidence of the last Weigh.
func (m *Monitor) Evidence() Evidence { return m.evidence }

// TooFew reports whether too_few_dimensions is on.
func (m *Monitor) TooFew() bool { return m.on[tooFewDimensions] }

// Codes appends to dst the codes of the alarms that are on.
func (m *Monitor) Codes(dst []string) []string {
	for k, on := range m.on {
		if on {
			dst = append(dst, codes[k])
		}
	}
	return dst
}

// Forgotten takes over the alarms of a Monitor that was reset: they stay on until their cause is gone.
func (m *Monitor) Forgotten(before *Monitor) { m.on, m.reported = before.on, before.reported }

// Restored takes over the reports of a Monitor from before a checkpoint was restored: the next Update reports every difference.
func (m *Monitor) Restored(before *Monitor) { m.reported = before.reported }

// onsetText returns what happened and what to do.
func (m *Monitor) onsetText(k kind) string {
	drifts, diffuses, more := m.changes.suspects()
	switch k {
	case driftChanged:
		return fmt.Sprintf("the drift differs from the law, most along z%d: look for a change in the experiment; the law forgets earlier data once the change is certain, or at once after reset", drifts+1)
	case diffusionChanged:
		than := map[bool]string{true: "higher", false: "lower"}[more]
		return fmt.Sprintf("diffusion or noise along z%d is %s than learnt: check temperature, focus and light; send reset to learn the new law", diffuses+1, than)
	case unlikeTraining:
		return "this frame is unlike the training frames, and the law skips it: if more follow, check focus and light, or train a new model"
	case objectLost:
		return fmt.Sprintf("the object was missing in %d frames in a row: bring it back into the region", lostAfter)
	case tooFewDimensions:
		return "a hidden variable drives the latents: look for other things that move or change, and train with one more latent"
	}
	return fmt.Sprintf("the light fell from %.3g to %.3g grey values: raise the excitation, or use a fresh sample", m.first, m.light)
}

// endTexts are the texts of the events that end an alarm.
var endTexts = [kinds]string{
	"over: the drift agrees with the law again; nothing to do",
	"over: the diffusion agrees with the law again; nothing to do",
	"over: frames resemble the training frames again, or the law has adapted to them; nothing to do",
	"over: the law learns from the frames again; nothing to do",
	"over: the light has recovered; nothing to do",
	"over: the latents explain their motion again; nothing to do",
}

// Archive reads or writes the data and the alarms that are on, without the reports.
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
