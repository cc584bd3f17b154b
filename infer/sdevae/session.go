package sdevae

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"driftscope/infer/sdevae/dnnl"
)

// session is one restart: a model on its way.
type session struct {
	job       *job
	restart   int
	source    *rand.PCG
	rng       *rand.Rand
	model     *Model
	graph     *graph
	optimiser *adam
	q         []float64 // smoothed profiled diffusion
	clock     []float32 // of every frame; nil where there is none
	order     []int     // of the training pairs, in this pass
	at        int       // in order
	done      int       // steps
	sum       float64   // of the losses since the last look
	since     int       // steps since then
	stale     int       // looks without gain
	best      Look
	kept      *Model   // weights of the best look
	asleep    *sleeper // nil but in the sleep phase
	redrawing bool     // the last phase is on
	aside     *Model   // weights before the last phase; nil before it
	drew      Look     // what they explain
}

// newSession makes a restart that has taken no step yet and is not primed.
func newSession(j *job, restart int) (*session, error) {
	source := rand.NewPCG(j.config.Seed, uint64(restart))
	s := &session{job: j, restart: restart, source: source, rng: rand.New(source), best: Look{HeldOut: math.Inf(1)}}
	var err error
	if s.model, err = j.firstModel(s.rng, restart); err != nil {
		return nil, err
	}
	if s.graph, err = newGraph(s.model, j.config.objective()); err != nil {
		s.model.Close()
		return nil, err
	}
	s.clock, s.optimiser = s.model.clock(j.clip, j.clip.frames()), newAdam(s.graph.machine.params)
	return s, nil
}

// firstModel is random weights, or the model to continue. The last layers of every other restart see moments alone, those of all where
// noise drowns the clip.
func (j *job) firstModel(rng *rand.Rand, restart int) (*Model, error) {
	clip := j.clip
	m, err := newModel(dnnl.Shape{C: clip.Channels, H: clip.Height, W: clip.Width}, j.config.form(), 2*j.config.Pairs, rng)
	if err != nil {
		return nil, err
	}
	m.Background = background(clip)
	if j.config.Clock {
		m.Span = clip.Span()
	}
	switch {
	case j.origin != nil:
		err = j.origin.restore(m, clip, spread(framesOf(j.train), maxCalibration))
	case restart%2 == 0 || j.drowned():
		m.seeMoments()
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// close frees all but the model.
func (s *session) close() {
	s.graph.machine.close()
	if s.asleep != nil {
		s.asleep.graph.machine.close()
	}
}

// discard frees a session, which may be nil, with its model.
func (s *session) discard() {
	if s != nil {
		s.close()
		s.model.Close()
	}
}

// run goes on up to the given step, or until patience ends. A model that is continued has its first look before the first step:
// where no step does better, it stays as it was.
func (s *session) run(ctx context.Context, until int) error {
	if s.job.origin != nil && s.done == 0 && until > 0 {
		look, err := s.look()
		if err != nil {
			return err
		}
		s.job.report(look.Loss, look)
	}
	if s.job.trail != nil && s.done == 0 && until > 0 {
		if err := s.sleep(ctx); err != nil {
			return err
		}
	}
	for s.done < until && (s.job.config.Patience == 0 || s.stale < s.job.config.Patience) {
		if err := ctx.Err(); err != nil {
			return err
		}
		loss, err := s.step()
		if err != nil {
			return fmt.Errorf("step %d: %w", s.done, err)
		}
		var look *Look
		if s.done%s.job.config.Every == 0 || s.done == s.job.config.Steps || s.done == s.job.config.Steps+s.job.config.Redraw {
			if look, err = s.look(); err != nil {
				return err
			}
		}
		if err := s.job.tell(loss, look, look != nil); err != nil {
			return err
		}
	}
	return nil
}

// smoothing is the weight of the past in the running profiled diffusion.
const smoothing = 0.9

// step takes one optimiser step on the next pairs and returns the loss, with ½ ln q in place of ½ q/q̄.
func (s *session) step() (float64, error) {
	s.fill(s.next())
	if s.done == 0 || s.redrawing && s.done == s.job.config.Steps {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	weight := s.graph.weight.Data().([]float32)
	for i, q := range s.q {
		weight[i] = float32(1 / q)
	}
	s.model.Encoder.Rest(s.done < s.job.config.Lead || s.redrawing)
	err := s.graph.machine.run()
	s.model.Encoder.Rest(false)
	if err != nil {
		return 0, err
	}
	loss := float64(s.graph.loss.Data().(float32))
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, fmt.Errorf("the loss is %g: try a smaller rate than %g", loss, s.job.config.Rate)
	}
	for i, q := range s.graph.q.Data().([]float32) {
		if s.job.config.Diffusion == Profiled {
			loss += 0.5 * (math.Log(float64(q)) - float64(q*weight[i]))
		}
		s.q[i] = smoothing*s.q[i] + (1-smoothing)*float64(q)
	}
	if err := s.optimiser.update(&s.graph.machine, s.job.config.rate(s.done)); err != nil {
		return 0, err
	}
	s.model.constrain()
	s.done, s.sum, s.since = s.done+1, s.sum+loss, s.since+1
	return loss, nil
}

// begin measures, before a phase's first step, what steps refer to: q and, where l1 is on, the decoder's gain.
func (s *session) begin() error {
	if s.job.config.L1 > 0 {
		if err := s.model.calibrate(s.job.clip, spread(framesOf(s.job.train), maxCalibration)); err != nil {
			return err
		}
		if err := s.weigh(); err != nil {
			return err
		}
	}
	if err := s.graph.machine.run(); err != nil {
		return err
	}
	s.q = wide(s.graph.q.Data().([]float32))
	if len(s.model.LogSigma) > 0 {
		for i := range s.model.LogSigma {
			s.model.LogSigma[i] = float32(0.5 * math.Log(s.q[i]))
		}
	}
	return nil
}

// next is the next batch of pairs, every pair once in a random order before any comes again.
func (s *session) next() []int {
	n := s.job.config.Pairs
	if s.at+n > len(s.order) {
		s.order, s.at = s.rng.Perm(len(s.job.train)), 0
	}
	s.at += n
	return s.order[s.at-n : s.at]
}

// fill puts the pairs' frames, time steps and fresh noise where the graph reads them.
func (s *session) fill(indices []int) {
	x, eps, dt, clock := s.graph.x.Data().([]float32), s.graph.eps.Data().([]float32), s.graph.dt.Data().([]float32), s.graph.clock.Data().([]float32)
	size, b := s.job.clip.Size(), s.job.config.Pairs
	for k, i := range indices {
		p := s.job.train[i]
		copy(x[k*size:(k+1)*size], s.job.clip.Frame(p.First))
		copy(x[(b+k)*size:(b+k+1)*size], s.job.clip.Frame(p.First+1))
		dt[k] = float32(p.DT)
		if s.clock != nil {
			clock[k], clock[b+k] = s.clock[p.First], s.clock[p.First+1]
		}
	}
	for i := range eps {
		eps[i] = float32(s.rng.NormFloat64())
	}
}
