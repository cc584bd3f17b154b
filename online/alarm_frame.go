package online

import "math"

// When frames are held back from the law, and when they are believed again.
const (
	outsideBeyond = 6   // sds of the training latents from their mean
	blurredBeyond = 4   // times the encoder's own sd as it was
	settled       = 100 // frames whose sd says how it is
	agreeing      = 50  // held frames that follow from each other as the law says: the object is elsewhere
	newNormal     = 500 // held frames in a row that are the new normal whatever they are like
)

// verdict says what is done with a frame.
type verdict int

const (
	believe verdict = iota // it is learnt from
	hold                   // it is counted, and time goes on
	restart                // it begins a trajectory
)

// frames judges each frame before it is learnt from, doc.go (15).
type frames struct {
	mean, sd []float64 // of the training latents; none where they are not known

	strange  bool    // the last frame is not like what the encoder and the law were learnt from
	held     float64 // s since the last frame that was believed
	row      uint64  // frames held in a row
	agree    uint64  // the last of them that follow from each other
	distance float64 // Σ of how far they are apart, in units of what the law allows
	accepted bool    // frames are believed that follow from each other: the law does not know where they are
	usual    uint64  // frames in a row that it does know
	previous []float64
	level    []float64 // the encoder's sd as it is
	believed uint64
}

func newFrames(c Config) *frames {
	return &frames{mean: c.TrainMean, sd: c.TrainSD, previous: make([]float64, c.Dim), level: make([]float64, c.Dim)}
}

// judge is the verdict on a measurement m with the encoder's sd, dt after the last frame and forecast with the given NIS. limit is the
// largest NIS that is believed.
func (f *frames) judge(m, sd []float64, nis, limit, dt float64, found []diffusion) verdict {
	far, outside, blurred := !(nis <= limit), f.outside(m), f.blurred(sd)
	apart := f.apart(m, dt, found)
	copy(f.previous, m)
	f.strange = far || outside
	known := !f.strange && !blurred
	if f.usual++; !known {
		f.usual = 0
	} else if f.usual >= calm {
		f.accepted = false
	}
	if known || f.accepted && apart <= limit {
		f.believe(sd)
		return believe
	}
	f.held += dt
	if f.elsewhere(apart, apart <= limit && !blurred) {
		f.accepted = true
		f.believe(sd)
		return restart
	}
	return hold
}

// begin is the verdict on the first frame of a trajectory, or on one dt after others that were held since that.
func (f *frames) begin(m, sd []float64, limit, dt float64, found []diffusion) verdict {
	apart := f.apart(m, dt, found)
	copy(f.previous, m)
	f.strange = f.outside(m)
	f.held = 0
	blurred := f.blurred(sd)
	if f.accepted || !f.strange && !blurred || f.elsewhere(apart, dt > 0 && apart <= limit && !blurred) {
		f.accepted, f.usual = f.strange || blurred, 0
		f.believe(sd)
		return restart
	}
	return hold
}

// waits says whether all frames of the trajectory so far were held: the next may still be the one it begins with.
func (f *frames) waits() bool { return f.row > 0 && f.held == 0 }

// elsewhere counts a frame that is not believed, and says whether there were enough of them. This one may follow from the one before.
func (f *frames) elsewhere(apart float64, follows bool) bool {
	if f.row++; f.row > 1 && follows {
		f.agree++
		f.distance += apart
	} else {
		f.agree, f.distance = 0, 0
	}
	moved := f.distance >= agreeing*float64(len(f.previous))/4 // a picture without its object would be too still
	return f.agree >= agreeing-1 && moved || f.row >= newNormal
}

// look judges a frame that is not learnt from whatever it is like, while the law is frozen: by itself, because nothing forecasts it.
func (f *frames) look(m, sd []float64) {
	f.strange = f.outside(m)
	if f.row++; !f.strange && !f.blurred(sd) {
		f.row, f.agree, f.distance = 0, 0, 0
	}
}

// believe ends a row of held frames, and folds in the encoder's sd.
func (f *frames) believe(sd []float64) {
	f.row, f.agree, f.distance = 0, 0, 0
	f.believed++
	gain := 1 / float64(min(f.believed, settled))
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
		if f.believed >= settled && sd[i] > blurredBeyond*f.level[i] {
			return true
		}
	}
	return false
}

// apart is the squared distance of m from the last measurement, in units of what diffusion and noise may put between them: χ² with a
// degree of freedom a dimension.
func (f *frames) apart(m []float64, dt float64, found []diffusion) (square float64) {
	for i, d := range found {
		if variance := d.v*dt + 2*d.noise; variance > 0 {
			e := m[i] - f.previous[i]
			square += e * e / variance
		}
	}
	return square
}

func (f *frames) archive(a *archive) {
	a.bool(&f.strange)
	a.magnitudes(&f.held, &f.distance)
	a.uint(&f.row)
	a.uint(&f.agree)
	a.bool(&f.accepted)
	a.uint(&f.usual)
	a.floats(f.previous)
	for i := range f.level {
		a.magnitudes(&f.level[i])
	}
	a.uint(&f.believed)
}
