// The loss
//
// A frame x has the posterior q(z|x) = N(m(x), S(x)), S = L L' with L lower triangular or diagonal. A decoder f reconstructs the frame from z, and the latents
// obey dz = μ(z) dt + σ dW. For a mini-batch of random pairs (x₀, x₁) of consecutive frames, Δt apart, the loss is
//
//	rec  = mean over frames of |f(m + L ε) - x|² / 2τ       summed over pixels
//	eᵢ   = mᵢ(x₁) - mᵢ(x₀) - μᵢ(m(x₀)) Δt
//	qᵢ   = mean over pairs of (eᵢ² + Sᵢᵢ(x₀) + Sᵢᵢ(x₁)) / Δt
//	loss = rec + ½ Σᵢ ln qᵢ - mean over frames of ln det L
//
// Variants: with a learnt diffusion, Σᵢ qᵢ/2σᵢ² + ln σᵢ replaces ½ Σᵢ ln qᵢ. With sub-steps, several Euler steps along the drift replace m(x₀) + μ Δt. A prior
// adds ν/2 mean (Σᵢ Sᵢᵢ + mᵢ²). l1 adds a multiple of Σᵢ √qᵢ |∂f/∂zᵢ|, the motion in the picture, which does not depend on the scale of z.
//
// With a clock, the drift is μ(z, c) and the encoder's last layers read c in addition to its features, as in the paper for drifts that depend on time. c = 2t/T
// - 1, where t is the time since the frame's trajectory began and T the duration of the longest trajectory. The model file reads t in seconds, up to T. This
// drift shapes the encoder and is then discarded, like the drift without a clock. The exported drift is fitted to the exported latents, depends on z alone, and
// is a mean over the clip. The online estimator follows changes of the law.
//
// ½ ln q is the negative log-likelihood of a Gaussian transition, minimised over σᵢ², so the scale of z is free during training. The gauge fixes the scale
// (package gauge): z = C^(-½) (m - mean), where C estimates σσ' from the increments. The loss counts one entropy per transition, not two. Pairs are drawn at
// random, so batch normalisation uses frames from the whole video at every step. Before the gauge the latents are straightened. By the paper's Theorem 1, a
// change of variables that makes the diffusion the same everywhere determines the latents up to an isometry.

package sdevae

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/onnx"
	"driftscope/infer/sdevae/sprites"
	"driftscope/infer/sdevae/video"
)

// Look is one evaluation of the held-out frames.
type Look struct {
	Restart, Step int
	Loss          float64 // training loss, averaged over the steps since the last look
	HeldOut       float64 // loss on held-out pairs, without sampling noise
	Explained     float64 // share of the held-out pictures' variance beyond noise that the reconstruction explains
}

// Progress is the state of a training. It is reported after every step, before the first step of a continued model, and before a search.
type Progress struct {
	Step, Steps int // steps taken, and in total
	Loss        float64
	Look        *Look // nil between looks
	Seeking     int   // number of rigid objects in the current search, before the first step; 0 during training
}

// Result is the result of a training.
type Result struct {
	Model   *network.Model // to be closed by the caller
	Config  Config         // with the defaults filled in
	Best    Look           // evaluation of the weights in Model
	History []Look

	SpriteShare       float64 // share of the motion that located sprites explain; 0 without sprites
	Sprites           int     // number of located objects
	Modes             int     // modes of change of a single object's light; 0 if it is rigid
	AppearanceLatents int     // latents that are scores of these modes
	Steps             []int   // frames at which the still part of the picture behind located objects changes
	BackgroundLatents int     // latents of a dynamic background; further latents are padding
}

// Train returns ErrMean if no restart's reconstruction ever left the mean picture.
var ErrMean = errors.New("the reconstruction never left the mean picture, so the latents have no content: " +
	"crop closer to the moving object, give a longer clip, a smaller tau or another seed")

// Training holds the options of a training besides the clip and the config. The zero value starts from random weights and writes no checkpoints.
type Training struct {
	Watch  func(Progress)     // called after every step, from the training goroutine; may be nil
	From   *card.File         // model to continue in one run, written by pretrain; nil starts from random weights
	Save   func([]byte) error // called with a checkpoint every Config.Every steps; may keep the slice; an error ends the training
	Notes  []byte             // stored in the checkpoints, at most 1 MiB
	Resume *Checkpoint        // checkpoint to resume, made with the same clip, config and From; nil starts at the beginning
}

// Train learns a model of the clip from random weights. watch, if not nil, is called from the same goroutine after every step.
// The same clip and config give the same model.
func Train(ctx context.Context, clip *video.Clip, c Config, watch func(Progress)) (*Result, error) {
	return Training{Watch: watch}.Train(ctx, clip, c)
}

// Train learns a model of the clip. For the same number of threads, the same clip, config and starting model give the same model, resumed or not. Train returns
// ErrCheckpoint if Resume belongs to another training, and ErrMean if nothing was learnt.
func (t Training) Train(ctx context.Context, clip *video.Clip, c Config) (*Result, error) {
	j, err := newJob(ctx, t, clip, c)
	if err != nil {
		return nil, err
	}
	defer j.tracked.close()
	if err = j.run(ctx); err != nil {
		j.current.discard()
		return nil, err
	}
	lead := j.current
	lead.close()
	r := &Result{Config: j.config, Model: lead.model, Best: lead.best, History: j.looks, Steps: j.steps}
	if j.tracked != nil && j.tracked.sprites != nil {
		r.SpriteShare, r.Sprites = j.tracked.explained, j.tracked.count()
		switch {
		case j.tracked.background != nil:
			r.BackgroundLatents = r.Config.Latent - 2*r.Sprites
		case j.tracked.deforming != nil:
			r.Modes = j.tracked.deforming.Modes()
			r.AppearanceLatents = min(r.Modes, r.Config.Latent-2)
		}
	}
	return r, nil
}

// job is a running training.
type job struct {
	training    Training
	clip        *video.Clip
	digest      []byte       // digest of the clip, if checkpoints are used
	origin      *onnx.Origin // model to continue, or nil
	config      Config
	train, held []video.Pair
	moving      float64   // share of the clip's energy that is not noise
	tracked     *tracked  // objects located before the training, or nil
	steps       []int     // frames at which the still part of the picture changes, if that change was removed to find tracked
	mean        []float32 // the clip's mean picture at low SNR, because the mean of a few frames contains too much noise

	before     int      // steps of the training of a dynamic background
	taken      int      // steps of all restarts
	looks      []Look   // looks of all restarts
	restart    int      // restart now in its trial; the number of restarts after all trials
	finished   int      // number of finalists that have ended
	current    *session // running restart; nil between restarts
	candidates []parked // best restarts after their trial, the best first; a finalist that has ended moves from the front to the back
}

func newJob(ctx context.Context, t Training, clip *video.Clip, c Config) (*job, error) {
	if err := clip.Check(); err != nil {
		return nil, err
	}
	j := &job{training: t, clip: clip}
	if t.Save != nil || t.Resume != nil {
		j.digest = []byte(clip.Digest())
	}
	if t.From != nil {
		var err error
		if j.origin, err = onnx.ReadOrigin(t.From); err == nil {
			c, err = suitedTo(j.origin, clip, c)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.Clock && clip.Span() == 0 {
		return nil, errors.New("the times of the clip's trajectories never increase: leave the clock out or correct the times")
	}
	if j.survey(ctx, c); j.lowSNR() {
		c.SyntheticSteps, c.ReinitSteps = cmp.Or(c.SyntheticSteps, -1), cmp.Or(c.ReinitSteps, -1)
	}
	if c.Clock || len(j.train) < gauge.MinPairs { // with a clock the drift would not be learnt again; a few pairs do not determine slow components
		c.ReinitSteps = cmp.Or(c.ReinitSteps, -1)
	}
	var err error
	if j.tracked, err = j.locate(ctx, c); err == nil {
		err = j.locateWithoutSteps(ctx, c)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		j.tracked.close()
		return nil, err
	}
	j.clip = clip
	if j.tracked != nil {
		c = c.withSprites()
	} else {
		c.SpriteSteps = -1
	}
	j.config = c.withDefaults(len(j.train))
	return j, nil
}

// survey splits the clip, equalises it if it is searched, and measures the share of motion in it.
func (j *job) survey(ctx context.Context, c Config) {
	clip := j.clip
	j.train, j.held = video.Split(clip.Pairs(clip.MaxGap()))
	if j.searches(c) {
		j.clip = sprites.WithoutOffsets(clip, ctx, video.FramesOf(j.train), c.Seed)
	}
	if j.moving = j.clip.Moving(); j.lowSNR() {
		j.mean = numeric.MeanRow(clip.Pixels, clip.Len(), clip.Size())
	}
}

// run continues the job from its current state to its end.
func (j *job) run(ctx context.Context) error {
	if j.training.Resume != nil {
		if err := j.resume(j.training.Resume); err != nil {
			return err
		}
	}
	if err := j.trials(ctx); err != nil {
		return err
	}
	if err := j.final(ctx); err != nil {
		return err
	}
	lead := j.current
	if lead.kept == nil && !lead.reinitialising {
		return lead.broken()
	}
	if err := lead.finish(ctx); err != nil {
		return err
	}
	if !(lead.best.Explained >= nothingLearnt) { // NaN where all frames are the same
		return ErrMean
	}
	return nil
}

// finish runs the phases after the last look for the winning session.
func (s *session) finish(ctx context.Context) error {
	if !s.reinitialising {
		if s.job.config.SyntheticSteps <= 0 || s.job.tracked != nil {
			s.model.Adopt(s.kept)
		} else if err := s.trainOnSynthetic(ctx); err != nil {
			return err
		}
	}
	if s.job.config.ReinitSteps <= 0 {
		return nil
	}
	return s.reinitialise(ctx)
}

func (s *session) broken() error {
	return fmt.Errorf("training broke down: the held-out loss was never finite; try a smaller rate than %g", s.job.config.Rate)
}

// trials runs the trial of every restart and keeps the best restarts as candidates.
func (j *job) trials(ctx context.Context) error {
	for ; j.restart < j.config.Restarts; j.restart++ {
		if j.current == nil {
			var err error
			if j.current, err = newSession(j, j.restart); err != nil {
				return err
			}
			if err = j.current.initialise(); err != nil {
				return err
			}
		}
		if err := j.current.run(ctx, j.config.trial()); err != nil {
			return err
		}
		if err := j.park(); err != nil {
			return err
		}
		j.keep(j.config.finalists())
	}
	return nil
}

// final runs the candidates to the end, and then makes the best one the running restart.
func (j *job) final(ctx context.Context) error {
	for ; j.finished < j.config.finalists(); j.finished++ {
		if err := j.resumeBest(); err != nil {
			return err
		}
		if err := j.current.run(ctx, j.config.Steps); err != nil {
			return err
		}
		if err := j.park(); err != nil {
			return err
		}
	}
	j.keep(1)
	return j.resumeBest()
}

// keep sorts the candidates by held-out loss and keeps the first n.
func (j *job) keep(n int) {
	slices.SortStableFunc(j.candidates, func(a, b parked) int { return cmp.Compare(a.best.HeldOut, b.best.HeldOut) })
	j.candidates = j.candidates[:min(n, len(j.candidates))]
}

// tell counts a step, reports it, and writes a checkpoint if one is due.
func (j *job) tell(loss float64, look *Look, due bool) error {
	j.taken++
	j.report(loss, look)
	if !due {
		return nil
	}
	return j.checkpoint()
}

func (j *job) report(loss float64, look *Look) {
	if j.training.Watch != nil {
		j.training.Watch(Progress{Step: j.before + j.taken, Steps: j.before + j.config.TotalSteps(), Loss: loss, Look: look})
	}
}
