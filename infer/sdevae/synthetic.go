package sdevae

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Training on synthetic frames. A decoder reconstructs well only near its training frames, but a located object that changes can be rendered well anywhere. The
// latents of its look must not depend on its position. The encoder learns this from frames in which look and position vary independently, over their whole
// range.
const (
	changingWidth   = 1    // distance of a synthetic frame from its starting frame, in standard deviations of the latents, if the sprite changes
	syntheticFrames = 2000 // largest number of starting frames
)

const (
	syntheticRate  float64 = 1e-3 // tuned train.syntheticRate: peak rate of Adam on frames that the decoder drew: the encoder is already trained
	syntheticWidth float64 = 0.5  // tuned train.syntheticWidth: distance of a synthetic frame from its start, in sd of the latents: the decoder extrapolates badly, and sprites wrap around the edges
	lateWarmup     float64 = 20   // tuned train.lateWarmup: steps of linear rise in the later phases, whose optimiser starts fresh
)

// syntheticPhase is the training of the encoder on synthetic frames. It holds the posteriors of the starting frames and their residuals.
type syntheticPhase struct {
	graph     *network.SyntheticGraph
	optimiser *network.Adam
	targets   *network.Posteriors
	sd        []float64 // sd of each latent's means over the frames
	clock     []float32 // clock of the frames; nil without a clock
	left      []float32 // residuals: frames minus their reconstructions, n × CHW; differences of pairs if the picture is low-rank
	start     []int     // starting frame of each synthetic frame of the batch
	look      []int     // frame that determines its appearance beyond the latents: the starting frame, or any frame if the sprite changes
	steps     int       // number of steps
	rate      float64   // peak rate of Adam
	width     float64   // distance of a synthetic frame from its starting frame, in sds of the latents
	done      int

	draw    func(pictures, z []float32, frames []int) error // renders latents, each with its frame's appearance beyond the latents
	frames  []int                                           // starting frames
	changes bool                                            // the sprite changes
	sprites int                                             // number of sprites; the latents of each sprite and of the background may come from different frames
	noise   []float32                                       // scratch for shifted noise; nil if each frame keeps its own residual
}

// beginSynthetic starts the training on synthetic frames. It starts from the weights of the best look or, if objects were located, from the initial weights.
func (s *session) beginSynthetic() (err error) {
	frames := numeric.Spread(video.FramesOf(s.job.train), syntheticFrames)
	l := &syntheticPhase{frames: frames, start: make([]int, 2*s.job.config.Pairs), look: make([]int, 2*s.job.config.Pairs)}
	if s.job.tracked == nil {
		s.model.Adopt(s.kept)
		l.steps, l.rate, l.width = s.job.config.SyntheticSteps, syntheticRate, syntheticWidth
		l.draw = func(pictures, z []float32, frames []int) error { return s.model.Decode(pictures, z, len(frames)) }
		l.left, l.targets, err = s.model.Read(s.job.clip, frames)
	} else {
		l.steps, l.rate, l.width, l.draw, l.sprites = s.job.config.SpriteSteps, spriteRate, syntheticWidth, s.job.tracked.draw, s.job.tracked.count()
		s.job.tracked.keepLooks(s.job.clip, frames)
		if l.changes = s.job.tracked.deforming != nil; l.changes {
			l.width = changingWidth
		}
		l.left, l.targets = s.job.clip.Pick(frames), s.job.tracked.posteriors(frames, s.job.config.Posterior)
	}
	if err != nil {
		return err
	}
	drawn := make([]float32, len(l.left))
	if err := l.draw(drawn, l.targets.Mean, frames); err != nil {
		return err
	}
	for i, v := range drawn {
		l.left[i] -= v
	}
	if s.job.tracked != nil && s.job.tracked.lowRank != nil { // the fit to all frames contains each frame's own noise, to which the encoder would overfit
		l.left, l.noise = s.job.clip.Differences(numeric.Spread(s.job.train, syntheticFrames)), make([]float32, s.job.clip.Size())
	}
	l.clock = s.model.Clock(s.job.clip, frames)
	for i := range s.model.Dim {
		l.sd = append(l.sd, stat.StdDev(numeric.Column(l.targets.Mean, i, s.model.Dim), nil))
	}
	if l.graph, err = network.NewSyntheticGraph(s.model, 2*s.job.config.Pairs); err != nil {
		return err
	}
	l.optimiser, s.synthetic = network.NewAdam(l.graph.Machine.Params), l
	return nil
}

// trainOnSynthetic is the sleep phase of the wake-sleep algorithm (Hinton, Dayan, Frey and Neal 1995), with changed frames instead of pure decoder outputs.
// With the decoder it moves a frame from its own latents m to nearby latents z, x + f(z) - f(m), and trains only the encoder to read z. The number of such
// frames is unlimited, even for a film of eighty frames, so they undo overfitting. Everything that the decoder cannot reconstruct stays in the picture, so the
// encoder does not learn the decoder's errors.
func (s *session) trainOnSynthetic(ctx context.Context) error {
	if s.synthetic == nil {
		if err := s.beginSynthetic(); err != nil {
			return err
		}
	}
	for l := s.synthetic; l.done < l.steps; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.fillSynthetic(l); err != nil {
			return err
		}
		if err := l.graph.Machine.Run(); err != nil {
			return fmt.Errorf("training on synthetic frames, step %d: %w", l.done, err)
		}
		rate := l.rate * min(float64(l.done+1)/lateWarmup, 1) * cosine(l.done, l.steps)
		if err := l.optimiser.Update(&l.graph.Machine, rate); err != nil {
			return err
		}
		s.model.Constrain()
		l.done++
		if err := s.job.tell(float64(l.graph.Loss.Data().(float32)), nil, l.done%s.job.config.Every == 0); err != nil {
			return err
		}
	}
	if s.job.tracked != nil {
		s.job.tracked.looks = nil // 128 MiB at most
	}
	return s.model.Calibrate(s.job.clip, numeric.Spread(video.FramesOf(s.job.train), maxCalibration))
}

// fillSynthetic fills the graph's inputs with a batch of synthetic frames.
func (s *session) fillSynthetic(l *syntheticPhase) error {
	d, size, n, rows := s.model.Dim, s.job.clip.Size(), len(l.targets.Mean)/s.model.Dim, 2*s.job.config.Pairs
	mean, logDiag, weight := l.graph.Mean.Data().([]float32), l.graph.LogDiag.Data().([]float32), l.graph.Weight.Data().([]float32)
	x := l.graph.X.Data().([]float32)
	for k := range rows {
		near := s.rng.IntN(n)
		l.start[k], l.look[k] = near, l.frames[near]
		if l.changes {
			l.look[k] = l.frames[s.rng.IntN(n)]
		}
		from := near
		for i := range d {
			if i > 0 && i%2 == 0 && i <= 2*l.sprites {
				from = s.rng.IntN(n)
			}
			mean[k*d+i] = l.targets.Mean[from*d+i] + float32(l.width*l.sd[i]*s.rng.NormFloat64())
			if weight[k*d+i] = 0; l.sd[i] > 0 { // otherwise the latent is constant
				weight[k*d+i] = float32(1 / (l.sd[i]*l.sd[i] + 1e-12)) // the sd of a dead latent is almost 0
			}
		}
		copy(logDiag[k*d:(k+1)*d], l.targets.LogDiag[near*d:])
		if l.clock != nil {
			l.graph.Clock.Data().([]float32)[k] = l.clock[near]
		}
		if l.graph.Below != nil {
			copy(l.graph.Below.Data().([]float32)[k*network.CovarianceTerms(d):(k+1)*network.CovarianceTerms(d)], l.targets.Below[near*network.CovarianceTerms(d):])
		}
	}
	if err := l.draw(x, mean, l.look); err != nil {
		return err
	}
	for k := range rows {
		for p, v := range s.residualFor(l, k) {
			x[k*size+p] = min(max(x[k*size+p]+v, 0), 1)
		}
	}
	return nil
}

// residualFor returns the residual of synthetic frame k's starting frame. For a low-rank picture it instead returns the noise of a random pair, shifted at
// random, so that the noise never repeats.
func (s *session) residualFor(l *syntheticPhase, k int) []float32 {
	size := s.job.clip.Size()
	if l.noise == nil {
		return l.left[l.start[k]*size : (l.start[k]+1)*size]
	}
	of := s.rng.IntN(len(l.left) / size)
	s.job.clip.Roll(l.noise, l.left[of*size:(of+1)*size], s.rng.IntN(s.job.clip.Width), s.rng.IntN(s.job.clip.Height))
	return l.noise
}
