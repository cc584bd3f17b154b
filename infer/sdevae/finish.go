package sdevae

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/onnx"
	"driftscope/infer/sdevae/verdict"
	"driftscope/infer/sdevae/video"
)

// Export is a trained model ready for writing, with the latents of the training clip from the file's encoder.
type Export struct {
	File []byte // the ONNX file
	Card card.Card
	Z    []float32 // frames × d, in the file's coordinates
	SD   []float32 // their standard deviations

	Rectified *gauge.Rectified // nil if the encoder's latents were straight
	Verdict   *verdict.Verdict // how reliable the model is on the clip
}

// Export fixes the latents' gauge and writes the model file. It completes the card from the model and the clip; the caller sets Preprocess and the known parts
// of Training. measured, which may be nil, has independently measured positions of the clip's single object (frames × 2, px), and the verdict compares the
// model with these.
func (r *Result) Export(clip *video.Clip, c card.Card, measured []float64) (*Export, error) {
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
	if e.Verdict, err = r.judged(clip, e, measured); err != nil {
		return nil, err
	}
	e.Card.Training.Verdict = &card.Verdict{Level: string(e.Verdict.Level), Reasons: e.Verdict.Reasons()}
	e.File, err = card.Write(&e.Card, onnx.Encoder(r.Model, s.gauge), onnx.Decoder(r.Model, s.gauge))
	return e, err
}

// judged returns the verdict on the exported latents and on the reconstructions of the held-out frames. If steps of the still part of the picture were removed
// before the search for objects, the reconstructions need not contain these steps.
func (r *Result) judged(clip *video.Clip, e *Export, measured []float64) (*verdict.Verdict, error) {
	_, held := video.Split(clip.Pairs(clip.MaxGap()))
	frames := video.FramesOf(held)
	_, p, err := r.Model.Read(clip, frames)
	if err != nil {
		return nil, err
	}
	shown := clip
	if r.Steps != nil {
		shown, _ = clip.WithoutSteps()
	}
	c := &verdict.Case{Clip: shown, Held: held, Drawn: make([]float32, len(frames)*clip.Size()), Z: e.Z, SD: e.SD, Dim: r.Model.Dim,
		Places: 2 * r.Sprites, Look: e.Card.Objects != nil, Measured: measured}
	if r.Sprites > 0 {
		c.Padding = c.Dim - c.Places - r.AppearanceLatents - r.BackgroundLatents
	}
	if err := r.Model.Decode(c.Drawn, p.Mean, len(frames)); err != nil {
		return nil, err
	}
	return c.Judge(), nil
}

// exported holds a clip's latents in the file's coordinates.
type exported struct {
	gauge     *gauge.Map
	rectified *gauge.Rectified // nil if the encoder's latents were straight
	z, sd     []float32        // frames × d
}

// exported fixes the gauge of the latents.
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
	if r.SpriteShare == 0 { // positions in the picture are already straight
		if s.gauge, s.rectified, err = s.gauge.Straighten(p.Mean, pairs); err != nil {
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
