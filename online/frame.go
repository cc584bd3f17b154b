// Frames
//
// A frame is held back if its NIS exceeds the 1 - 1/A quantile q of χ², widened to n(e^(q/n) - 1) for variances known from n transitions; if a latent is more
// than six sds of the training latents from their mean; or if the encoder's sd exceeds four times its usual
// value. A held frame is counted, enters neither banks nor refinement nor filter, and makes the next step longer:                             (15)
//
//	unlike_training   NIS or position, one frame; over after 10 frames without cause
//	object_lost       5 held frames in a row; over after 10 believed frames in a row
//
// While the law is frozen, no forecast exists, and only the latent's position and the encoder's sd decide on a frame.
//
// If the distances between 50 successive held frames agree with diffusion and noise, the object has moved elsewhere and a new trajectory begins. After 500
// held frames a new trajectory begins in any case, so nothing stops the estimator for ever. In the new trajectory, a frame is believed if it may follow from
// the previous one, until the law has forecast ten frames in a row.

package online

import (
	"math"

	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
)

// Limits for holding frames back from the law, and for believing them again.
const (
	outsideBeyond   = 6   // distance from the mean of the training latents, in their sds
	blurredBeyond   = 4   // factor over the encoder's usual sd
	levelFrames     = 100 // frames that the encoder's usual sd is averaged over
	elsewhereAfter  = 50  // consistent held frames after which the object counts as elsewhere
	newNormalFrames = 500 // held frames in a row after which a new trajectory begins in any case
)

// Verdict is the decision on a frame.
type Verdict int

const (
	Believe Verdict = iota // learn from the frame
	Hold                   // count the frame; the next step becomes longer
	Restart                // begin a trajectory with the frame
)

// Frame is a measurement and the data for its verdict.
type Frame struct {
	Mean, SD []float64 // the encoder's output
	NIS      float64   // NIS of the measurement; unused at the beginning of a trajectory
	Limit    float64   // largest believed NIS, Monitor.Limit
	DT       float64   // s since the last frame
}

// frames decides for each frame whether the law learns from it, (15).
type frames struct {
	mean, sd []float64 // moments of the training latents; empty if unknown

	strange    bool    // the last frame differs from the frames that trained the encoder or the law
	held       float64 // s since the last believed frame
	heldInRow  uint64  // held frames in a row
	consistent uint64  // latest held frames, each of which may follow from the previous one
	distance   float64 // Σ of their distances, in units of the law's spread
	accepting  bool    // believe frames that may follow from the previous one: the law does not know the position
	known      uint64  // frames in a row that agree with the law's forecast
	previous   []float64
	level      []float64 // the encoder's usual sd
	believed   uint64
}

func newFrames(c AlarmConfig) *frames {
	return &frames{mean: c.TrainMean, sd: c.TrainSD, previous: make([]float64, c.Dim), level: make([]float64, c.Dim)}
}

// judge implements Monitor.Judge.
func (f *frames) judge(at Frame, found []diffusion.Estimate) Verdict {
	far, outside, blurred := !(at.NIS <= at.Limit), f.outside(at.Mean), f.blurred(at.SD)
	apart := f.apart(at, found)
	copy(f.previous, at.Mean)
	f.strange = far || outside
	known := !f.strange && !blurred
	if f.known++; !known {
		f.known = 0
	} else if f.known >= clearAfter {
		f.accepting = false
	}
	if known || f.accepting && apart <= at.Limit {
		f.believe(at.SD)
		return Believe
	}
	f.held += at.DT
	if f.elsewhere(apart, apart <= at.Limit && !blurred) {
		f.accepting = true
		f.believe(at.SD)
		return Restart
	}
	return Hold
}

// begin implements Monitor.Begin.
func (f *frames) begin(at Frame, found []diffusion.Estimate) Verdict {
	apart := f.apart(at, found)
	copy(f.previous, at.Mean)
	f.strange = f.outside(at.Mean)
	f.held = 0
	blurred := f.blurred(at.SD)
	if f.accepting || !f.strange && !blurred || f.elsewhere(apart, at.DT > 0 && apart <= at.Limit && !blurred) {
		f.accepting, f.known = f.strange || blurred, 0
		f.believe(at.SD)
		return Restart
	}
	return Hold
}

// waiting implements Monitor.Waiting.
func (f *frames) waiting() bool { return f.heldInRow > 0 && f.held == 0 }

// elsewhere counts a held frame and reports whether the object is elsewhere. follows reports whether this frame may follow from the previous one.
func (f *frames) elsewhere(apart float64, follows bool) bool {
	if f.heldInRow++; f.heldInRow > 1 && follows {
		f.consistent++
		f.distance += apart
	} else {
		f.consistent, f.distance = 0, 0
	}
	moved := f.distance >= elsewhereAfter*float64(len(f.previous))/4 // the latents of a picture without its object would move too little
	return f.consistent >= elsewhereAfter-1 && moved || f.heldInRow >= newNormalFrames
}

// look implements Monitor.Look.
func (f *frames) look(m, sd []float64) {
	f.strange = f.outside(m)
	if f.heldInRow++; !f.strange && !f.blurred(sd) {
		f.heldInRow, f.consistent, f.distance = 0, 0, 0
	}
}

// believe ends a row of held frames and averages the encoder's sd.
func (f *frames) believe(sd []float64) {
	f.heldInRow, f.consistent, f.distance = 0, 0, 0
	f.believed++
	gain := 1 / float64(min(f.believed, levelFrames))
	for i := range min(len(sd), len(f.level)) {
		f.level[i] += gain * (sd[i] - f.level[i])
	}
}

// outside reports whether m is farther from the training latents than outsideBeyond.
func (f *frames) outside(m []float64) bool {
	for i, sd := range f.sd {
		if math.Abs(m[i]-f.mean[i]) > outsideBeyond*sd {
			return true
		}
	}
	return false
}

// blurred reports whether the encoder's sd exceeds blurredBeyond times its usual value.
func (f *frames) blurred(sd []float64) bool {
	for i := range min(len(sd), len(f.level)) {
		if f.believed >= levelFrames && sd[i] > blurredBeyond*f.level[i] {
			return true
		}
	}
	return false
}

// apart returns the squared distance from the last measurement, in units of the variance by diffusion and noise. It is χ² with one degree of freedom per
// dimension.
func (f *frames) apart(at Frame, found []diffusion.Estimate) (square float64) {
	for i, d := range found {
		if variance := d.V*at.DT + 2*d.FilterNoise; variance > 0 {
			e := at.Mean[i] - f.previous[i]
			square += e * e / variance
		}
	}
	return square
}

func (f *frames) archive(a *archive.Codec) {
	a.Bool(&f.strange)
	a.Magnitudes(&f.held, &f.distance)
	a.Uint(&f.heldInRow)
	a.Uint(&f.consistent)
	a.Bool(&f.accepting)
	a.Uint(&f.known)
	a.Floats(f.previous)
	for i := range f.level {
		a.Magnitudes(&f.level[i])
	}
	a.Uint(&f.believed)
}
