package sdevae

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
)

const (
	leastFollowed = 0.6  // share of what moves that movers must explain to be what is followed;
	leastDrowned  = 0.4  // where noise drowns the clip, and a molecule is of another shape in every frame
	leastOver     = 0.03 // share of what moves that a sprite over a background that changes as a whole must explain
	mostTogether  = 0.5  // correlation of two things' steps above which they are parts of one
	mostThings    = 5    // that are looked for at once: more take minutes
	trailWidth    = 0.1  // that the encoder's posteriors begin with, of latents of variance 1

	mostPixels  = 1 << 17 // of pictures that are searched: a minute's work a thing
	followSteps = 1200    // of the encoder, fewer where Steps are few
	followRate  = 6e-3    // Adam's, at its peak
)

// searches says whether the clip is searched for things that keep their shape.
func (j *job) searches(c Config) bool {
	return c.Follow >= 0 && !c.Clock && j.origin == nil && j.clip.Height*j.clip.Width <= mostPixels && len(j.train) >= leastPairs
}

// follow looks for as many things that keep their shape as the latents have pairs of coordinates, or else for one, and what moves beside it,
// or, under noise, for what one or two latents make of the whole picture.
// It gives nil where they are not what moves, or where the config does not ask.
func (j *job) follow(ctx context.Context, c Config) (*trail, error) {
	if !j.searches(c) {
		return nil, nil
	}
	if c.Latent%2 == 0 && c.Latent/2 <= mostThings {
		if t := j.trace(ctx, c.Latent/2, c.Seed, j.leastFollowed()); t != nil {
			return t, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case c.Latent > 2:
		return j.followBeside(ctx, c)
	case j.drowned():
		return j.traceScenery(ctx, c.Latent, c.Seed), nil
	}
	return nil, nil
}

func (j *job) leastFollowed() float64 {
	if j.drowned() {
		return leastDrowned
	}
	return leastFollowed
}

// trace finds n movers in all frames, faint ones where noise drowns the clip and there are no others; nil where they explain less than that
// share of what moves, or do not each go their own way, or once ctx is done.
func (j *job) trace(ctx context.Context, n int, seed uint64, least float64) *trail {
	if j.training.Watch != nil {
		j.training.Watch(Progress{Seeking: n})
	}
	t := j.traceOf(ctx, findMovers(ctx, j.clip, framesOf(j.train), n, rand.New(rand.NewPCG(seed, math.MaxUint64))), least)
	if t == nil && j.drowned() {
		t = j.traceOf(ctx, findFaintMovers(ctx, j.clip, framesOf(j.train), n), least)
	}
	return t
}

func (j *job) traceOf(ctx context.Context, m *movers, least float64) *trail {
	if ctx.Err() != nil {
		return nil
	}
	t, kin := &trail{movers: m}, m.kin()
	m.average(kin)
	t.explained, t.left = j.explainedBy(m)
	if !(t.explained >= least) || m.faint > 0 && m.spread() > faintMost {
		return nil
	}
	t.places, _ = m.track(j.clip, j.clip.frames())
	if told := m.tellApart(j.clip, t.places, kin); !(told*t.explained >= least) {
		return nil
	}
	return t.lasting(j.clip)
}

// lasting settles the latents; nil where they rest or the things do not each go their own way.
func (t *trail) lasting(c *Clip) *trail {
	t.movers.unwrap(t.places)
	if !t.standardise(t.places, 2*len(t.movers.shapes)) || !t.goes(c.Pairs(c.MaxGap())) {
		return nil
	}
	return t
}

// explainedBy is the share of what moves in the held-out frames that the movers explain, and the energy of a frame that they leave.
func (j *job) explainedBy(m *movers) (share, left float64) {
	held := framesOf(j.held)
	_, left = m.track(j.clip, held)
	if m.faint > 0 { // what noise left in the still picture counts on both sides
		return j.shareOf(left, m.open(j.clip, held).energy(m)/float64(len(held))), left
	}
	return j.share(left), left
}

// share is that of what moves in the held-out frames that is explained where so much of a frame's energy is left.
func (j *job) share(left float64) float64 { return j.shareOf(left, j.energyHeld()) }

func (j *job) shareOf(left, energy float64) float64 { return min(1, (1-left/energy)/j.moves) }

// energyHeld is a held-out frame's, about what is still.
func (j *job) energyHeld() float64 {
	held := framesOf(j.held)
	x := j.clip.pick(held)
	if j.still == nil {
		return squaredError(x, average(x, len(held), j.clip.Size())) / float64(len(held))
	}
	n := float64(j.clip.Len()) // held-out frames are in the mean, too
	return squaredError(x, j.still) / float64(len(held)) * n / (n - 1)
}

// following is the config of a training that follows: one run, in which the encoder learns from drawings of the movers, and rests while the
// decoder learns to draw from it.
func (c Config) following() Config {
	c.Steps = cmp.Or(c.Steps, DefaultSteps)
	c.Follow = cmp.Or(c.Follow, min(4*c.Steps, followSteps))
	c.Restarts, c.Lead, c.Sleep, c.Redraw = 1, c.Steps, -1, -1
	return c
}

// traceOver is trace of one thing over a picture that changes as a whole.
func (j *job) traceOver(ctx context.Context, seed uint64) *trail {
	m, places := findOver(ctx, j.clip, framesOf(j.train), rand.New(rand.NewPCG(seed, math.MaxUint64)))
	if m == nil || m.spread() > mostCovered {
		return nil
	}
	t := &trail{movers: m, places: places}
	t.left = t.movers.leaves(j.clip, framesOf(j.held), t.places)
	if t.explained = j.share(t.left); !(t.explained >= leastOver) {
		return nil
	}
	return t.lasting(j.clip)
}

// traceScenery finds d latents by which the picture changes as a whole, under noise that hides it in any one frame; nil where what it finds
// explains next to nothing of what moves.
func (j *job) traceScenery(ctx context.Context, d int, seed uint64) *trail {
	g := &gaze{j.clip, j.still}
	t := &trail{scenery: &scenery{basis: newBasis(d, sceneryDegree)}}
	w := g.slowest(ctx, d, rand.New(rand.NewPCG(seed, math.MaxUint64)))
	for range sceneryRounds {
		if ctx.Err() != nil || !t.standardise(g.calm(g.scores(w)), d) {
			return nil
		}
		if w = t.scenery.learn(j.clip, framesOf(j.train), t.z, d); w.Data == nil {
			return nil
		}
	}
	held := framesOf(j.held)
	drawn := make([]float32, len(held)*j.clip.Size())
	t.scenery.draw(drawn, t.posteriors(held, Diagonal).Mean, len(held))
	t.left = squaredError(j.clip.pick(held), drawn) / float64(len(held))
	if t.explained = j.share(t.left); !(j.moves > 0 && t.explained >= leastScenery) {
		return nil
	}
	return t
}
