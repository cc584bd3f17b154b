package sdevae

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/onnx"
	"driftscope/infer/sdevae/video"
)

// Export is a trained model ready to be written, with the training clip's latents as the file's encoder gives them.
type Export struct {
	File []byte // the ONNX file
	Card card.Card
	Z    []float32 // frames × d, in the file's coordinates
	SD   []float32 // their standard deviations

	Rectified *gauge.Rectified // nil where the encoder's latents were straight
}

// Export settles the latents' gauge and writes the model file. The card is completed from the model and the clip;
// the caller gives Preprocess and the parts of Training that it knows.
func (r *Result) Export(clip *video.Clip, c card.Card) (*Export, error) {
	s, err := r.exported(clip)
	if err != nil {
		return nil, err
	}
	e := &Export{Card: c, Z: s.z, SD: s.sd, Rectified: s.rectified}
	pairs := clip.Pairs(clip.MaxGap())
	e.describe(r, clip, pairs)
	drift, err := e.fitDrift(clip, r.Config.Seed)
	if err != nil {
		return nil, err
	}
	e.Card.Drift = &card.Drift{Hidden: drift.Hidden, Centre: drift.Centre, Scale: drift.Scale, Weights: drift.Weights}
	e.File, err = card.Write(&e.Card, onnx.Encoder(r.Model, s.gauge), onnx.Decoder(r.Model, s.gauge))
	return e, err
}

// exported is a clip's latents in the file's coordinates.
type exported struct {
	gauge     *gauge.Map
	rectified *gauge.Rectified // nil where the encoder's latents were straight
	z, sd     []float32        // frames × d
}

// exported settles the gauge of the latents.
func (r *Result) exported(clip *video.Clip) (s exported, err error) {
	m := r.Model
	p, err := m.Encode(clip.Pixels, m.Clock(clip, clip.Frames()), clip.Len())
	if err != nil {
		return s, err
	}
	pairs := clip.Pairs(clip.MaxGap())
	if s.gauge, err = gauge.Whiten(p.Mean, m.Dim, pairs); err != nil {
		return s, err
	}
	if r.SpriteShare == 0 { // places in the picture are straight
		if s.gauge, s.rectified, err = s.gauge.Straighten(p.Mean, pairs, clip); err != nil {
			return s, err
		}
	}
	s.z, s.sd = s.gauge.Apply(p)
	return s, nil
}

// describe completes the card.
func (e *Export) describe(r *Result, clip *video.Clip, pairs []video.Pair) {
	d := r.Model.Dim
	e.Card.Version = card.Version
	e.Card.Input = card.Input{Channels: clip.Channels, Height: clip.Height, Width: clip.Width}
	e.Card.Latent = d
	e.Card.DT, e.Card.Clock = clip.DT(), r.Model.Span
	for i := range d {
		axis := numeric.Column(e.Z, i, d)
		mean, sd := stat.MeanStdDev(axis, nil)
		e.Card.Mean, e.Card.SD = append(e.Card.Mean, mean), append(e.Card.SD, sd)
	}
	quadratic, lagged := gauge.Increments(e.Z, d, pairs)
	for i := range d {
		v := quadratic.At(i, i)
		if free := v + 2*lagged.At(i, i); free > 0 && free < v {
			v = free
		}
		e.Card.Sigma = append(e.Card.Sigma, math.Sqrt(v))
	}
	for _, p := range pairs {
		e.Card.Seconds += p.DT
	}
	e.Card.Training.Seed, e.Card.Training.Tau = r.Config.Seed, r.Config.Tau
	e.Card.Training.Steps, e.Card.Training.HeldOut = r.Best.Step, r.Best.HeldOut
	e.Card.Training.Digest = clip.Digest()
}
