package alarm

import (
	"math"

	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
)

// When frames are held back from the law, and when they are believed again.
const (
	outsideBeyond   = 6   // sds of the training latents from their mean
	blurredBeyond   = 4   // times the encoder's own sd as it was
	levelFrames     = 100 // frames whose sd says how it is
	elsewhereAfter  = 50  // held frames that follow from each other as the law says: the object is elsewhere
	newNormalFrames = 500 // held frames in a row that are the new normal whatever they are like
)

// Verdict says what is done with a frame.
type Verdict int

const (
	Believe Verdict = iota // it is learnt from
	Hold                   // it is counted, and time goes on
	Restart                // it begins a trajectory
)

// Frame is a measurement as it is judged.
type Frame struct {
	Mean, SD []float64 // by the encoder
	NIS      float64   // of the forecast; not used at the beginning of a trajectory
	Limit    float64   // the largest NIS that is believed, Monitor.Limit
	DT       float64   // s since the last frame
}

// frames judges each frame before it is learnt from, doc.go (15).
type frames struct {
	mean, sd []float64 // of the training latents; none where they are not known

	strange    bool    // the last frame is not like what the encoder and the law were learnt from
	held       float64 // s since the last frame that was believed
	heldInRow  uint64  // frames
	consistent uint64  // the last of them that follow from each other
	distance   float64 // Σ of how far they are apart, in units of what the law allows
	accepting  bool    // frames are believed that follow from each other: the law does not know where they are
	known      uint64  // frames in a row that it does know
	previous   []float64
	level      []float64 // the encoder's sd as it is
	believed   uint64
}

func newFrames(c Config) *frames {
	return &frames{mean: c.TrainMean, sd: c.TrainSD, previous: make([]float64, c.Dim), level: make([]float64, c.Dim)}
}

// judge is Monitor.Judge.
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

// begin is Monitor.Begin.
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

// waiting is Monitor.Waiting.
func (f *frames) waiting() bool { return f.heldInRow > 0 && f.held == 0 }

// elsewhere counts a frame that is not believed, and says whether there were enough of them. This one may follow from the one before.
func (f *frames) elsewhere(apart float64, follows bool) bool {
	if f.heldInRow++; f.heldInRow > 1 && follows {
		f.consistent++
		f.distance += apart
	} else {
		f.consistent, f.distance = 0, 0
	}
	moved := f.distance >= elsewhereAfter*float64(len(f.previous))/4 // a picture without its object would be too still
	return f.consistent >= elsewhereAfter-1 && moved || f.heldInRow >= newNormalFrames
}

// look is Monitor.Look.
func (f *frames) look(m, sd []float64) {
	f.strange = f.outside(m)
	if f.heldInRow++; !f.strange && !f.blurred(sd) {
		f.heldInRow, f.consistent, f.distance = 0, 0, 0
	}
}

// believe ends a row of held frames, and folds in the encoder's sd.
func (f *frames) believe(sd []float64) {
	f.heldInRow, f.consistent, f.distance = 0, 0, 0
	f.believed++
	gain := 1 / float64(min(f.believed, levelFrames))
	for i := range min(len(sd), len(f.level)) {
		f.level[i] += gain * (sd[i] - f.level[i])
	}
}

// outside says whether m is where no training latent was.
func (f *frames) outside(m []float64) bool {
	for i, sd := range f.sd {
		if math.Abs(m[i]-f.mean[i]) > outsideBeyond*sd {
			return true
		}
	}
	return false
}

// blurred says whether the encoder is far less sure than it was.
func (f *frames) blurred(sd []float64) bool {
	for i := range min(len(sd), len(f.level)) {
		if f.believed >= levelFrames && sd[i] > blurredBeyond*f.level[i] {
			return true
		}
	}
	return false
}

// apart is the squared distance from the last measurement, in units of what diffusion and noise may put between them: χ² with a degree of
// freedom a dimension.
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
