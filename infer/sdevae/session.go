// Steps of a training
//
//	locate.go        locates rigid objects before the training (package sprites); each takes two latents, x and y. If that fails: one object
//	                 over a dynamic background (background.go); if that fails at low SNR: a low-rank picture (video.LowRank)
//	initialise.go    initial weights: the latents are slow or principal components of random features; at low SNR, of averages
//	train.go         restarts race: all take a third of the steps, and the two with the best held-out loss continue to the end
//	session.go       steps of one restart: first with a frozen encoder, then of all weights (Config.FreezeSteps, EncoderRate)
//	heldout.go       evaluates held-out pairs; keeps the weights of the best evaluation
//	synthetic.go     trains the encoder alone, on synthetic frames rendered by the decoder or from the sprites
//	reinitialise.go  replaces the latents by slow components of the learnt features, aligns the decoder, and keeps the result unless it explains far less
//	finish.go        computes gauge, drift and card of the model file, and the verdict on the model (package verdict)
//
// With located sprites there is one restart. The encoder learns their positions only from synthetic frames. It is then frozen while the decoder, the widths and
// the drift are trained with the loss in train.go. Positions in the picture need no straightening.
//
// Other differences from the paper: f adds its picture to the logit of the clip's mean picture, so no training step is spent on the still part. In every other
// restart the encoder's last layers read low moments of the feature maps (package network, readout.go).
//
// A training resumes from a checkpoint with the same result to the bit (checkpoint.go, snapshot.go). continue.go continues a model on other clips. grow.go
// chooses the number of latents by the held-out description length, or by the located objects.
//
// Symbols of the paper: x frame, z latent, f decoder, μ Drift, σ Sigma, τ Tau, Δt DT, T Clip.Span. Package dnnl runs the convolutions. Gorgonia runs and
// differentiates the loss and the drift network (package network).

package sdevae

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// session is one restart: a model and the state of its training.
type session struct {
	job            *job
	restart        int
	source         *rand.PCG
	rng            *rand.Rand
	model          *network.Model
	graph          *network.Graph
	optimiser      *network.Adam
	q              []float64 // smoothed profiled diffusion
	clock          []float32 // clock of every frame; nil without a clock
	permutation    []int     // order of the training pairs in this pass
	at             int       // index in the permutation
	done           int       // steps
	sum            float64   // sum of the losses since the last look
	since          int       // steps since then
	stale          int       // looks without gain
	best           Look
	kept           *network.Model  // weights of the best look
	synthetic      *syntheticPhase // nil unless the encoder is learning from synthetic frames
	reinitialising bool            // true in the last phase
	before         *network.Model  // weights before the last phase; nil before it
	beforeLook     Look            // explained share at that time
}

// newSession returns a restart before its first step, with random weights.
func newSession(j *job, restart int) (*session, error) {
	source := rand.NewPCG(j.config.Seed, uint64(restart))
	s := &session{job: j, restart: restart, source: source, rng: rand.New(source), best: Look{HeldOut: math.Inf(1)}}
	var err error
	if s.model, err = j.firstModel(s.rng, restart); err != nil {
		return nil, err
	}
	if s.graph, err = network.NewGraph(s.model, j.config.objective()); err != nil {
		s.model.Close()
		return nil, err
	}
	s.clock, s.optimiser = s.model.Clock(j.clip, j.clip.Frames()), network.NewAdam(s.graph.Machine.Params)
	return s, nil
}

// firstModel returns a model with random weights, or the model to continue. In every other restart, and at low SNR in all restarts, the last layers read only
// moments.
func (j *job) firstModel(rng *rand.Rand, restart int) (*network.Model, error) {
	clip := j.clip
	m, err := network.New(dnnl.Shape{C: clip.Channels, H: clip.Height, W: clip.Width}, j.config.form(), 2*j.config.Pairs, rng)
	if err != nil {
		return nil, err
	}
	m.Background = network.MeanLogit(clip)
	if j.config.Clock {
		m.Span = clip.Span()
	}
	switch {
	case j.origin != nil:
		err = j.origin.Restore(m, clip, numeric.Spread(video.FramesOf(j.train), maxCalibration))
	case restart%2 == 0 || j.lowSNR():
		m.SeeMoments()
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// close frees everything except the model.
func (s *session) close() {
	s.graph.Machine.Close()
	if s.synthetic != nil {
		s.synthetic.graph.Machine.Close()
	}
}

// discard frees a session and its model. The session may be nil.
func (s *session) discard() {
	if s != nil {
		s.close()
		s.model.Close()
	}
}

// run trains up to the given step, or until the patience is exhausted. A continued model is evaluated before the first step, and stays unchanged if no step
// improves it.
func (s *session) run(ctx context.Context, until int) error {
	if s.job.origin != nil && s.done == 0 && until > 0 {
		look, err := s.look()
		if err != nil {
			return err
		}
		s.job.report(look.Loss, look)
	}
	if s.job.tracked != nil && s.done == 0 && until > 0 {
		if err := s.trainOnSynthetic(ctx); err != nil {
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
		if s.done%s.job.config.Every == 0 || s.done == s.job.config.Steps || s.done == s.job.config.Steps+s.job.config.ReinitSteps {
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

// step takes one optimiser step on the next pairs and returns the loss, with ½ ln q instead of ½ q/q̄.
func (s *session) step() (float64, error) {
	s.fill(s.next())
	if s.done == 0 || s.reinitialising && s.done == s.job.config.Steps {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	weight := s.graph.Weight.Data().([]float32)
	for i, q := range s.q {
		weight[i] = float32(1 / q)
	}
	s.model.Encoder.Rest(s.done < s.job.config.FreezeSteps || s.reinitialising)
	err := s.graph.Machine.Run()
	s.model.Encoder.Rest(false)
	if err != nil {
		return 0, err
	}
	loss := float64(s.graph.Loss.Data().(float32))
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, fmt.Errorf("the loss is %g: try a smaller rate than %g", loss, s.job.config.Rate)
	}
	for i, q := range s.graph.Q.Data().([]float32) {
		if s.job.config.Diffusion == network.Profiled {
			loss += 0.5 * (math.Log(float64(q)) - float64(q*weight[i]))
		}
		s.q[i] = network.Memory*s.q[i] + (1-network.Memory)*float64(q)
	}
	if err := s.optimiser.Update(&s.graph.Machine, s.job.config.rate(s.done)); err != nil {
		return 0, err
	}
	s.model.Constrain()
	s.done, s.sum, s.since = s.done+1, s.sum+loss, s.since+1
	return loss, nil
}

// begin measures the reference values of a phase before its first step: q and, if l1 is enabled, the decoder's gain.
func (s *session) begin() error {
	if s.job.config.L1 > 0 {
		if err := s.model.Calibrate(s.job.clip, numeric.Spread(video.FramesOf(s.job.train), maxCalibration)); err != nil {
			return err
		}
		if err := s.measureGain(); err != nil {
			return err
		}
	}
	if err := s.graph.Machine.Run(); err != nil {
		return err
	}
	s.q = numeric.Float64s(s.graph.Q.Data().([]float32))
	if len(s.model.LogSigma) > 0 {
		for i := range s.model.LogSigma {
			s.model.LogSigma[i] = float32(0.5 * math.Log(s.q[i]))
		}
	}
	return nil
}

// next returns the next batch of pairs, in random order. No pair repeats within a pass over all pairs.
func (s *session) next() []int {
	n := s.job.config.Pairs
	if s.at+n > len(s.permutation) {
		s.permutation, s.at = s.rng.Perm(len(s.job.train)), 0
	}
	s.at += n
	return s.permutation[s.at-n : s.at]
}

// fill writes the pairs' frames, time steps and fresh noise into the graph's inputs.
func (s *session) fill(indices []int) {
	x, eps, dt, clock := s.graph.X.Data().([]float32), s.graph.Eps.Data().([]float32), s.graph.Dt.Data().([]float32), s.graph.Clock.Data().([]float32)
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
