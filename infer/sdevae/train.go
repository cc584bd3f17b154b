package sdevae

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"driftscope/infer/sdevae/dnnl"
)

// Config says how to train. Zero values take the documented default.
type Config struct {
	Latent   int     // dimension d
	Seed     uint64  // of every random draw
	Tau      float64 // observation noise on the summed squared error
	Steps    int     // optimiser steps a restart; DefaultSteps
	Pairs    int     // a batch; 50, fewer where the clip has fewer
	Rate     float64 // Adam's, at its peak; 2e-3
	Warmup   int     // steps of linear rise; 50
	Decay    float64 // factor a step after warm-up; 0 is a cosine down to 0 at the last step
	Restarts int     // runs with other first weights, the best by held-out loss is kept; 3
	Every    int     // steps between looks at the held-out frames; 25
	Patience int     // looks without gain before stopping; 0 is never
}

// withDefaults fills the zero values for a clip with that many training pairs.
func (c Config) withDefaults(pairs int) Config {
	for _, v := range []struct {
		field *int
		value int
	}{{&c.Steps, DefaultSteps}, {&c.Pairs, 50}, {&c.Restarts, 3}, {&c.Every, 25}} {
		if *v.field == 0 {
			*v.field = v.value
		}
	}
	if c.Warmup == 0 {
		c.Warmup = min(50, c.Steps/5)
	}
	if c.Rate == 0 {
		c.Rate = 2e-3
	}
	c.Pairs = min(c.Pairs, pairs)
	return c
}

// rate is Adam's learning rate at step k, counted from 0.
func (c *Config) rate(k int) float64 {
	switch {
	case k < c.Warmup:
		return c.Rate * float64(k+1) / float64(c.Warmup)
	case c.Decay > 0:
		return c.Rate * math.Pow(c.Decay, float64(k-c.Warmup))
	}
	return c.Rate * (1 + math.Cos(math.Pi*float64(k-c.Warmup)/float64(c.Steps-c.Warmup))) / 2
}

// Look is one look at the held-out frames.
type Look struct {
	Restart, Step int
	Loss          float64 // training loss, averaged since the last look
	HeldOut       float64 // the loss on held-out pairs, without sampling noise
	Explained     float64 // share of the held-out pictures' variance that the reconstruction explains
}

// Progress is told after every step.
type Progress struct {
	Restart, Step, Steps int
	Loss                 float64
	Look                 *Look // nil between looks
}

// Result is what training gives.
type Result struct {
	Model   *Model // the caller closes it
	Config  Config // with the defaults filled in
	Best    Look   // the look whose weights were kept
	History []Look
}

// ErrMean is returned when reconstruction never left the mean picture in any restart.
var ErrMean = errors.New("reconstruction never left the mean picture: the latents carry nothing; " +
	"crop closer to what moves, give a longer clip, a smaller tau or another seed")

// minExplained is the share of held-out variance below which a model has learnt nothing.
const minExplained = 0.02

// Train learns a model of the clip. watch, if not nil, is called from the same goroutine after every step.
// The same clip and config give the same model.
func Train(ctx context.Context, clip *Clip, c Config, watch func(Progress)) (*Result, error) {
	if err := clip.Check(); err != nil {
		return nil, err
	}
	train, held := split(clip.Pairs(clip.MaxGap()))
	c = c.withDefaults(len(train))
	res := &Result{Config: c, Best: Look{HeldOut: math.Inf(1)}}
	for restart := range c.Restarts {
		s, err := newSession(clip, c, train, held, restart)
		if err == nil {
			err = s.run(ctx, watch)
			res.keepBetter(s)
		}
		if err != nil {
			res.close()
			return nil, err
		}
	}
	switch {
	case res.Model == nil:
		return nil, fmt.Errorf("training broke down: the loss was never finite; try a smaller rate than %g", c.Rate)
	case res.Best.Explained < minExplained:
		res.close()
		return nil, ErrMean
	}
	return res, nil
}

// keepBetter ends a session and keeps its model or the one there was, whichever does better on the held-out pairs.
func (r *Result) keepBetter(s *session) {
	s.graph.close()
	r.History = append(r.History, s.history...)
	if s.best.HeldOut >= r.Best.HeldOut {
		s.model.Close()
		return
	}
	r.close()
	r.Model, r.Best = s.model, s.best
}

// close frees the model, if there is one.
func (r *Result) close() {
	if r.Model != nil {
		r.Model.Close()
		r.Model = nil
	}
}

// session is one restart.
type session struct {
	clip        *Clip
	config      Config
	restart     int
	train, held []Pair
	rng         *rand.Rand
	model       *Model
	graph       *graph
	q           []float64 // smoothed profiled diffusion
	history     []Look
	best        Look
	kept        *Model // weights of the best look
}

func newSession(clip *Clip, c Config, train, held []Pair, restart int) (*session, error) {
	rng := rand.New(rand.NewPCG(c.Seed, uint64(restart)))
	m, err := newModel(dnnl.Shape{C: clip.Channels, H: clip.Height, W: clip.Width}, c.Latent, 2*c.Pairs, rng)
	if err != nil {
		return nil, err
	}
	if err := m.prime(clip, spread(framesOf(train), 2*c.Pairs)); err != nil {
		m.Close()
		return nil, err
	}
	m.Background = background(clip)
	g, err := newGraph(m, c.Pairs, c.Tau)
	if err != nil {
		m.Close()
		return nil, err
	}
	return &session{clip: clip, config: c, restart: restart, train: train, held: held, rng: rng, model: m, graph: g,
		best: Look{HeldOut: math.Inf(1)}}, nil
}

// run trains one restart and leaves the model with the weights of its best look.
func (s *session) run(ctx context.Context, watch func(Progress)) error {
	optimiser := newAdam(s.graph.params)
	var sum float64
	var since, stale int
	order := s.rng.Perm(len(s.train))
	at := 0
	for step := range s.config.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at+s.config.Pairs > len(order) {
			order, at = s.rng.Perm(len(s.train)), 0
		}
		loss, err := s.step(optimiser, order[at:at+s.config.Pairs], step)
		if err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		at += s.config.Pairs
		sum, since = sum+loss, since+1
		p := Progress{Restart: s.restart, Step: step + 1, Steps: s.config.Steps, Loss: loss}
		if (step+1)%s.config.Every == 0 || step+1 == s.config.Steps {
			look, err := s.look(step+1, sum/float64(since))
			if err != nil {
				return err
			}
			sum, since, stale = 0, 0, stale+1
			if look.HeldOut < s.best.HeldOut {
				s.best, s.kept, stale = look, s.model.clone(), 0
			}
			p.Look = &look
		}
		if watch != nil {
			watch(p)
		}
		if s.config.Patience > 0 && stale >= s.config.Patience {
			break
		}
	}
	if s.kept != nil {
		s.model.adopt(s.kept)
	}
	return nil
}

// smoothing is the weight of the past in the running profiled diffusion.
const smoothing = 0.9

// step takes one optimiser step on the pairs with these indices and returns the loss with ½ ln q in place of ½ q/q̄.
func (s *session) step(optimiser *adam, indices []int, step int) (float64, error) {
	s.fill(indices)
	weight := s.graph.weight.Data().([]float32)
	if s.q == nil { // the first batch only measures q
		if err := s.graph.run(); err != nil {
			return 0, err
		}
		s.q = make([]float64, s.config.Latent)
		copyFloats(s.q, s.graph.q.Data().([]float32))
	}
	for i, q := range s.q {
		weight[i] = float32(1 / q)
	}
	if err := s.graph.run(); err != nil {
		return 0, err
	}
	loss := float64(s.graph.loss.Data().(float32))
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, fmt.Errorf("the loss is %g: try a smaller rate than %g", loss, s.config.Rate)
	}
	for i, q := range s.graph.q.Data().([]float32) {
		loss += 0.5 * (math.Log(float64(q)) - float64(q*weight[i]))
		s.q[i] = smoothing*s.q[i] + (1-smoothing)*float64(q)
	}
	return loss, optimiser.update(s.graph, s.config.rate(step))
}

// fill puts the pairs' frames, time steps and fresh noise where the graph reads them.
func (s *session) fill(indices []int) {
	x, eps, dt := s.graph.x.Data().([]float32), s.graph.eps.Data().([]float32), s.graph.dt.Data().([]float32)
	size, b := s.clip.Size(), s.config.Pairs
	for k, i := range indices {
		p := s.train[i]
		copy(x[k*size:(k+1)*size], s.clip.Frame(p.First))
		copy(x[(b+k)*size:(b+k+1)*size], s.clip.Frame(p.First+1))
		dt[k] = float32(p.DT)
	}
	for i := range eps {
		eps[i] = float32(s.rng.NormFloat64())
	}
}

func copyFloats(dst []float64, src []float32) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// DefaultSteps is a restart's length unless told otherwise.
const DefaultSteps = 300

// EnergyPerTau is a clip's energy over the tau that suits it: tau decides whether the dynamics shape the latents.
const EnergyPerTau = 50

// PaperTau is what the published code's tau amounts to on the summed squared error: it averages over pixels.
const PaperTau = 1.23

// Paper gives the paper's own recipe for a clip: 800 frames a batch, exponential decay, 1500 epochs of one batch each.
// What c sets already stays.
func (c Config) Paper(frames int) Config {
	if c.Pairs == 0 {
		c.Pairs = min(frames/2, 400)
	}
	if c.Steps == 0 {
		c.Steps = 1500
	}
	c.Decay, c.Warmup = 0.997, 1
	return c
}
