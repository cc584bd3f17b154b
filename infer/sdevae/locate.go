package sdevae

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sprites"
	"driftscope/infer/sdevae/video"
)

const (
	maxSprites = 5   // largest number of objects in one search; more would take minutes
	firstWidth = 0.1 // standard deviation of the encoder's initial posteriors, for latents of variance 1

	maxSearchPixels = 1 << 17 // largest number of pixels of a searched picture, about a minute of work per sprite
	spriteSteps     = 1200    // steps of the encoder on synthetic frames; fewer if Steps is small
)

const (
	minSprites       float64 = 0.6  // tuned locate.sprites: share of the motion that sprites must explain, if they are several or lie over a dynamic background: a guess between two is right half of the time
	minSpritesLowSNR float64 = 0.4  // tuned locate.spritesLowSNR: the same at low SNR, where a molecule changes its shape in every frame
	nothingLearnt    float64 = 0.03 // tuned locate.explained: share of the motion in held-out frames below which nothing was learnt, by a sprite over a changing background or by a model
	spriteRate       float64 = 6e-3 // tuned train.spriteRate: peak rate of Adam on synthetic frames of located sprites: the encoder starts from nothing, and targets are exact
)

// searches reports whether the clip is searched for rigid objects.
func (j *job) searches(c Config) bool {
	return c.SpriteSteps >= 0 && !c.Clock && j.origin == nil && j.clip.Height*j.clip.Width <= maxSearchPixels
}

// locate searches for one rigid object per pair of latents. If that fails, it tries one object that changes, or one object over a dynamic background. At low
// SNR and for one or two latents it tries a low-rank picture instead. It returns nil if none of these explains the motion, or if the config disables the
// search.
func (j *job) locate(ctx context.Context, c Config) (*tracked, error) {
	if !j.searches(c) {
		return nil, nil
	}
	if n := c.Latent / 2; c.Latent%2 == 0 && n <= maxSprites && (n > 1 || j.lowSNR()) {
		if t := j.locateSprites(ctx, n, c.Seed, j.minExplained()); t != nil {
			return t, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case c.Latent > 2 || c.Latent == 2 && !j.lowSNR():
		return j.locateOne(ctx, c)
	case j.lowSNR(): // case locate.lowRank: a picture that changes as a whole, hidden by noise in single frames
		return j.locateLowRank(ctx, c.Latent, c.Seed), nil
	}
	return nil, nil
}

// locateWithoutSteps repeats the search on a clip without steps of its still part. It does so if rigid objects leave a residual and the still part of the
// picture changes between two frames, because an object's modes may have learnt that change. It keeps the result with the smaller residual on held-out frames.
func (j *job) locateWithoutSteps(ctx context.Context, c Config) error {
	rigid := j.tracked != nil && j.tracked.deforming == nil && j.tracked.explained >= 1-numeric.LeastLayer
	if rigid || !j.searches(c) { // case locate.steps: a still part of the picture that changes once: dust that moves, a spot that bleaches
		return nil
	}
	level, at := j.clip.WithoutSteps()
	if len(at) == 0 {
		return nil
	}
	as := *j
	j.clip, j.moving = level, level.Moving()
	t, err := j.locate(ctx, c)
	if err != nil || t == nil || as.tracked != nil && !(t.left < as.tracked.left) {
		t.close()
		j.clip, j.moving = as.clip, as.moving
		return err
	}
	as.tracked.close()
	j.tracked, j.steps = t, at
	return nil
}

func (j *job) minExplained() float64 {
	if j.lowSNR() {
		return minSpritesLowSNR
	}
	return minSprites
}

// locateSprites searches for n sprites, at low SNR also in all frames together. It returns nil if they explain less than the share `least` of the motion, if
// they do not move independently, or if ctx is done.
func (j *job) locateSprites(ctx context.Context, n int, seed uint64, least float64) *tracked {
	if j.training.Watch != nil {
		j.training.Watch(Progress{Seeking: n})
	}
	t := j.trackSprites(ctx, sprites.Find(ctx, j.clip, video.FramesOf(j.train), n, rand.New(rand.NewPCG(seed, math.MaxUint64))), least)
	if t == nil && j.lowSNR() { // case locate.lowSNR: sprites that single frames do not show, found in all frames together
		t = j.trackSprites(ctx, sprites.FindLowSNR(ctx, j.clip, video.FramesOf(j.train), n), least)
	}
	return t
}

func (j *job) trackSprites(ctx context.Context, m *sprites.Set, least float64) *tracked {
	if ctx.Err() != nil {
		return nil
	}
	t, group := &tracked{sprites: m}, m.SharedTemplates()
	m.ShareTemplates(group)
	t.explained, t.left = j.explainedBy(m)
	if !(t.explained >= least) || m.LowSNR > 0 && m.Area() > numeric.Majority {
		return nil
	}
	t.places, _ = m.Track(j.clip, j.clip.Frames())
	// case locate.identity: assignment of positions to sprites of the same look
	if identified := m.AssignIdentities(j.clip, t.places, group); !(identified*t.explained >= least) {
		return nil
	}
	return t.settle(j.clip)
}

// settle converts the positions to latents. It returns nil if a coordinate is constant or the sprites do not move independently.
func (t *tracked) settle(c *video.Clip) *tracked {
	t.sprites.Unwrap(t.places)
	if !t.standardise(t.places, 2*len(t.sprites.Templates)) || !t.independent(c.Pairs(c.MaxGap())) {
		return nil
	}
	return t
}

// explainedBy returns the share of the motion in held-out frames that the sprites explain, and the mean residual energy per frame.
func (j *job) explainedBy(m *sprites.Set) (share, left float64) {
	held := video.FramesOf(j.held)
	_, left = m.Track(j.clip, held)
	if m.LowSNR > 0 { // both energies include the noise in the background
		return j.shareOf(left, m.Residual(j.clip, held).Energy(m)/float64(len(held))), left
	}
	return j.share(left), left
}

// share returns the explained share of the motion in held-out frames, given the residual energy per frame.
func (j *job) share(left float64) float64 { return j.shareOf(left, j.energyHeld()) }

func (j *job) shareOf(left, energy float64) float64 { return min(1, (1-left/energy)/j.moving) }

// energyHeld returns the mean energy of a held-out frame about the mean picture.
func (j *job) energyHeld() float64 {
	held := video.FramesOf(j.held)
	x := j.clip.Pick(held)
	if j.mean == nil {
		return numeric.SquaredError(x, numeric.MeanRow(x, len(held), j.clip.Size())) / float64(len(held))
	}
	n := float64(j.clip.Len()) // the mean picture contains the held-out frames
	return numeric.SquaredError(x, j.mean) / float64(len(held)) * n / (n - 1)
}

// withSprites returns the config of a training on located sprites. It has one run. The encoder first learns from synthetic frames of the sprites, and is then
// frozen while the decoder learns.
func (c Config) withSprites() Config {
	c.Steps = cmp.Or(c.Steps, DefaultSteps)
	c.SpriteSteps = cmp.Or(c.SpriteSteps, min(4*c.Steps, spriteSteps))
	c.Restarts, c.FreezeSteps, c.SyntheticSteps, c.ReinitSteps = 1, c.Steps, -1, -1
	return c
}

// locateOverBackground searches for one sprite over a picture that changes as a whole. It returns nil if the sprite explains too little.
func (j *job) locateOverBackground(ctx context.Context, seed uint64) *tracked {
	m, places := sprites.FindOverBackground(ctx, j.clip, video.FramesOf(j.train), rand.New(rand.NewPCG(seed, math.MaxUint64)))
	if m == nil || m.Area() > numeric.Majority {
		return nil
	}
	t := &tracked{sprites: m, places: places}
	t.left = t.sprites.MeanResidual(j.clip, video.FramesOf(j.held), t.places)
	if t.explained = j.share(t.left); !(t.explained >= nothingLearnt) {
		return nil
	}
	return t.settle(j.clip)
}

// locateLowRank finds d latents that change the whole picture, even if noise hides the change in every single frame. It returns nil if they explain almost none
// of the motion.
func (j *job) locateLowRank(ctx context.Context, d int, seed uint64) *tracked {
	g := &video.SlowFeatures{Clip: j.clip, Mean: j.mean}
	t := &tracked{lowRank: &video.LowRank{Basis: numeric.NewBasis(d, numeric.Degree)}}
	w := g.Directions(ctx, d, rand.New(rand.NewPCG(seed, math.MaxUint64)))
	for range video.Rounds {
		if ctx.Err() != nil || !t.standardise(g.Smooth(g.Scores(w)), d) {
			return nil
		}
		if w = t.lowRank.Fit(j.clip, video.FramesOf(j.train), t.z, d); w.Data == nil {
			return nil
		}
	}
	held := video.FramesOf(j.held)
	drawn := make([]float32, len(held)*j.clip.Size())
	t.lowRank.Draw(drawn, t.posteriors(held, network.Diagonal).Mean, len(held))
	t.left = numeric.SquaredError(j.clip.Pick(held), drawn) / float64(len(held))
	if t.explained = j.share(t.left); !(j.moving > 0 && t.explained >= numeric.LeastLayer) {
		return nil
	}
	return t
}
