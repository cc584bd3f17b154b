package sdevae

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sprites"
	"driftscope/infer/sdevae/video"
)

// dynamicBackground is a changing background behind a single sprite, as a model learnt from the clip without the sprite.
type dynamicBackground struct {
	occluder *sprites.Occluder
	model    *network.Model
	gauge    *gauge.Map
	z        []float32 // frames × latents of the model, in its gauge
}

// locateOne searches for one object. A residual can have two causes: the object itself changes, or it occludes part of a changing background. locateOne chooses
// the explanation with the smaller residual at the same number of latents. Further latents are padding. It returns nil if the object does not explain the
// motion, alone or together with the background.
func (j *job) locateOne(ctx context.Context, c Config) (*tracked, error) {
	t := j.locateSprites(ctx, 1, c.Seed, numeric.LeastLayer)
	if t != nil && c.Latent > 2 && t.sprites.Area() > numeric.Majority { // case locate.overBackground: a sprite over a brighter picture that changes as a whole
		t = cmp.Or(j.locateOverBackground(ctx, c.Seed), t)
	}
	if t == nil {
		return nil, nil
	}
	lowSNR := t.sprites.LowSNR > 0 // if so, the residual is noise, and the amount of motion is unknown
	// In a picture of five balls, the removal of one ball leaves 0.7 to 0.8 of another ball's light.
	if !lowSNR && t.sprites.Duplicated(j.clip, video.FramesOf(j.held), t.places) > numeric.Majority {
		return nil, nil
	}
	rigid := t
	if !lowSNR && rigid.explained < 1-numeric.LeastLayer {
		t = cmp.Or(j.deform(ctx, rigid, c.Latent), rigid)
	}
	leaves := c.Latent > 2 && rigid.explained < 1-numeric.LeastLayer && !j.ownChange(t, rigid, c.Latent-2)
	// case locate.background: a dynamic background behind a single sprite; learnt if the sprite explains at least share.leastLayer of the motion and as much remains, kept if it explains as much, too
	if leaves || lowSNR {
		full, err := j.withBackground(ctx, c, rigid)
		if err != nil {
			return nil, err
		}
		if full != nil && (t == rigid || full.left < t.left) {
			return full, nil
		}
		full.close()
	}
	if least := min(j.minExplained(), numeric.Majority); t.explained < least { // with this share, no other object can be confused with it
		return nil, nil
	}
	t.pad(c.Latent)
	return t, nil
}

// ownChange reports whether a change of the sprite itself explains the residual of the rigid sprite better than a change of the background with the same number
// of latents.
func (j *job) ownChange(t, rigid *tracked, latents int) bool {
	return t.deforming != nil && t.left < rigid.sprites.LeftBehind(j.clip, video.FramesOf(j.train), video.FramesOf(j.held), latents)
}

// withBackground adds a dynamic background to the sprite. It returns nil if the background does not change, or hardly changes.
func (j *job) withBackground(ctx context.Context, c Config, t *tracked) (*tracked, error) {
	b, err := j.learnBackground(ctx, c, t)
	if err != nil || b == nil {
		return nil, err
	}
	full, err := j.trackOverBackground(b, t)
	if err == nil && full != nil && full.explained >= j.minExplained() && t.left-full.left >= numeric.LeastLayer*(j.energyHeld()-full.left) {
		return full, nil
	}
	b.model.Close()
	return nil, err
}

// learnBackground trains a model on the clip without the sprite. It returns nil if there is nothing to learn.
func (j *job) learnBackground(ctx context.Context, c Config, t *tracked) (*dynamicBackground, error) {
	behind := t.sprites.Remove(j.clip, t.places)
	if behind.Check() != nil {
		return nil, nil
	}
	c.Latent, c.SpriteSteps, c.Restarts, c.Tau = c.Latent-len(t.mean), -1, 1, c.Tau*TauOf(behind)/TauOf(j.clip)
	how := Training{Watch: func(p Progress) {
		j.before = p.Step
		if j.training.Watch != nil {
			j.training.Watch(p)
		}
	}}
	r, err := how.Train(ctx, behind, c)
	if err != nil { // a failed training means that there is no dynamic background
		return nil, ctx.Err()
	}
	s, err := r.exported(behind)
	if err != nil {
		r.Model.Close()
		return nil, nil
	}
	return &dynamicBackground{model: r.Model, gauge: s.gauge, z: s.z}, nil
}

// trackOverBackground locates the sprite again over its background, and measures the share that the two explain together.
func (j *job) trackOverBackground(b *dynamicBackground, t *tracked) (*tracked, error) {
	clip, d := j.clip, b.model.Dim
	n, size := clip.Len(), clip.Size()
	backgrounds := make([]float32, n*size)
	if err := b.draw(backgrounds, b.z, n); err != nil {
		return nil, err
	}
	full := &tracked{sprites: t.sprites, background: b, places: slices.Clone(t.places)}
	if b.occluder = sprites.NewOccluder(t.sprites, clip, clip.Frames(), t.places, backgrounds); t.sprites.LowSNR == 0 {
		for f := range n {
			at := b.occluder.Locate(clip.Frame(f), backgrounds[f*size:(f+1)*size])
			full.places[2*f], full.places[2*f+1] = at[0], at[1]
		}
		t.sprites.Unwrap(full.places)
	}
	var latents []float64
	for f := range n {
		latents = append(append(latents, full.places[2*f:2*f+2]...), numeric.Float64s(b.z[f*d:(f+1)*d])...)
	}
	if !full.standardise(latents, 2+d) {
		return nil, nil
	}
	held := video.FramesOf(j.held)
	drawn := make([]float32, len(held)*size)
	if err := full.draw(drawn, full.posteriors(held, network.Diagonal).Mean, held); err != nil {
		return nil, err
	}
	full.left = numeric.SquaredError(clip.Pick(held), drawn) / float64(len(held))
	full.explained = j.share(full.left)
	return full, nil
}

// drawOccluded renders n pictures from the background's latents z, with the sprite at the given positions in front.
func (b *dynamicBackground) drawOccluded(pictures []float32, places []float64, z []float32, n int) error {
	if err := b.draw(pictures, z, n); err != nil {
		return err
	}
	size := len(pictures) / n
	for k := range n {
		b.occluder.Draw(pictures[k*size:(k+1)*size], places[2*k], places[2*k+1])
	}
	return nil
}

// draw renders n pictures from the background's latents z.
func (b *dynamicBackground) draw(pictures, z []float32, n int) error {
	d := b.model.Dim
	s := mat.NewDense(n, d, numeric.Float64s(z))
	if b.gauge.Unbend != nil {
		s = b.gauge.Unbend.Apply(s)
	}
	var m mat.Dense
	m.Mul(s, b.gauge.Back)
	for k := range n {
		for i := range d {
			m.Set(k, i, m.At(k, i)+b.gauge.Mean[i])
		}
	}
	return b.model.Decode(pictures, numeric.Float32s(m.RawMatrix().Data), n)
}
