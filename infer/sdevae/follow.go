package sdevae

import (
	"cmp"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// trail is where a clip's movers are, as latents of variance 1: x and y of one after another.
type trail struct {
	movers    *movers
	explained float64   // share of what moves, in frames that the shapes were not learnt from
	mean, sd  []float64 // of x and y, px
	z         []float32 // frames × 2 a mover
}

const (
	leastFollowed = 0.6  // share of what moves that movers must explain to be what is followed;
	leastDrowned  = 0.4  // where noise drowns the clip, and a molecule is of another shape in every frame
	mostAlike     = 0.97 // correlation of two shapes above which nobody knows which is which
	mostTogether  = 0.5  // correlation of two things' steps above which they are parts of one
	trailWidth    = 0.1  // that the encoder's posteriors begin with, of latents of variance 1

	mostPixels  = 1 << 17 // of pictures that are searched: a minute's work a thing
	followSteps = 1200    // of the encoder, fewer where Steps are few
	followRate  = 6e-3    // Adam's, at its peak
)

// follow looks for as many things that keep their shape as the latents have pairs of coordinates. It gives nil where they are not what
// moves, or where the config does not ask.
func (j *job) follow(c Config) *trail {
	if c.Follow < 0 || c.Clock || c.Latent%2 != 0 || j.origin != nil || j.clip.Height*j.clip.Width > mostPixels || len(j.train) < leastPairs {
		return nil
	}
	m := findMovers(j.clip, framesOf(j.train), c.Latent/2, rand.New(rand.NewPCG(c.Seed, math.MaxUint64)))
	t := &trail{movers: m, explained: j.explainedBy(m)}
	least := leastFollowed
	if j.drowned() {
		least = leastDrowned
	}
	if !(t.explained >= least) || m.alike() > mostAlike {
		return nil
	}
	places, _ := m.track(j.clip, j.clip.frames())
	t.z = make([]float32, len(places))
	for i := range c.Latent {
		axis := m.unwrapped(places, i)
		mean, sd := stat.MeanStdDev(axis, nil)
		if !(sd > 0) {
			return nil // it rests
		}
		t.mean, t.sd = append(t.mean, mean), append(t.sd, sd)
		for k, v := range axis {
			t.z[k*c.Latent+i] = float32((v - mean) / sd)
		}
	}
	if !t.goes(j.clip.Pairs(j.clip.MaxGap())) {
		return nil
	}
	return t
}

// explainedBy is the share of what moves in the held-out frames that the movers explain.
func (j *job) explainedBy(m *movers) float64 {
	held := framesOf(j.held)
	_, left := m.track(j.clip, held)
	x := j.clip.pick(held)
	total := squaredError(x, average(x, len(held), j.clip.Size())) / float64(len(held))
	return min(1, (1-left/total)/j.moves)
}

// goes says that each thing goes its own way: its places last from frame to frame, and its steps are not another's.
func (t *trail) goes(pairs []Pair) bool {
	d := len(t.mean)
	steps := mat.NewDense(len(pairs), d, nil)
	for k, p := range pairs {
		for i := range d {
			steps.Set(k, i, float64(t.z[(p.First+1)*d+i]-t.z[p.First*d+i]))
		}
	}
	for i := range d {
		step := mat.Col(nil, i, steps)
		if stat.Variance(step, nil) > 1 { // half of it, or more, does not last
			return false
		}
		for other := range i - i%2 {
			if math.Abs(stat.Correlation(step, mat.Col(nil, other, steps), nil)) > mostTogether {
				return false
			}
		}
	}
	return true
}

// following is the config of a training that follows: one run, in which the encoder learns from drawings of the movers, and rests while the
// decoder learns to draw from it.
func (c Config) following() Config {
	c.Steps = cmp.Or(c.Steps, DefaultSteps)
	c.Follow = cmp.Or(c.Follow, min(4*c.Steps, followSteps))
	c.Restarts, c.Lead, c.Sleep, c.Redraw = 1, c.Steps, -1, -1
	return c
}

// posteriors are the trail's at the given frames.
func (t *trail) posteriors(frames []int, form Posterior) *Posteriors {
	d := len(t.mean)
	p := newPosteriors(len(frames), d, form)
	for k, f := range frames {
		copy(p.Mean[k*d:(k+1)*d], t.z[f*d:])
	}
	for i := range p.LogDiag {
		p.LogDiag[i] = float32(math.Log(trailWidth))
	}
	return p
}

// draw draws n pictures of latents, as Model.Decode does.
func (t *trail) draw(pictures, z []float32, n int) error {
	d := len(t.mean)
	places := make([]float64, n*d)
	for i := range places {
		places[i] = t.mean[i%d] + t.sd[i%d]*float64(z[i])
	}
	t.movers.draw(pictures, places, n)
	return nil
}
