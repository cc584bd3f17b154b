package sdevae

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/stat"
)

// The sleep phase: Adam's peak rate, the steps of its rise, how far from a frame's latents a dream lies, in their standard
// deviations over the clip, and how many frames at most dreams start from.
const (
	sleepRate   = 1e-3
	sleepWarmup = 20
	sleepWidth  = 0.5
	sleepFrames = 2000
)

// sleeper is the sleep phase under way, with what it needs of the awake model: its answer to every training frame, and what its
// drawings left out.
type sleeper struct {
	graph     *dreams
	optimiser *adam
	awake     *Posteriors
	sd        []float64 // of the means over the clip
	clock     []float32 // of the frames; nil where there is none
	left      []float32 // frames - drawings, n × CHW; bare noise of a scenery
	near      []int     // the frame that each drawing of the batch starts from
	steps     int       // to take
	rate      float64   // Adam's, at its peak
	done      int

	draw   func(pictures, z []float32, n int) error // what the drawings are by
	things int                                      // of two latents each, which come from one frame; what is another thing's, or behind them, may come from another
	bare   []float32                                // noise as a drawing has it; nil where what is left is the frame's own
}

// fallAsleep starts the sleep phase, at the best look's weights or, where things are followed, at the first.
func (s *session) fallAsleep() (err error) {
	l := &sleeper{near: make([]int, 2*s.job.config.Pairs)}
	frames := spread(framesOf(s.job.train), sleepFrames)
	if s.job.trail == nil {
		s.model.adopt(s.kept)
		l.steps, l.rate, l.draw = s.job.config.Sleep, sleepRate, s.model.Decode
		l.left, l.awake, err = s.model.read(s.job.clip, frames)
	} else {
		l.steps, l.rate, l.draw, l.things = s.job.config.Follow, followRate, s.job.trail.draw, s.job.trail.things()
		l.left, l.awake = s.job.clip.pick(frames), s.job.trail.posteriors(frames, s.job.config.Posterior)
	}
	if err != nil {
		return err
	}
	drawn := make([]float32, len(l.left))
	if err := l.draw(drawn, l.awake.Mean, len(frames)); err != nil {
		return err
	}
	for i, v := range drawn {
		l.left[i] -= v
	}
	if s.job.trail != nil && s.job.trail.scenery != nil { // a frame's own noise is in what was learnt of all frames: it would be learnt by heart
		l.left, l.bare = s.job.clip.noises(spread(s.job.train, sleepFrames)), make([]float32, s.job.clip.Size())
	}
	l.clock = s.model.clock(s.job.clip, frames)
	for i := range s.model.Dim {
		l.sd = append(l.sd, stat.StdDev(column(l.awake.Mean, i, s.model.Dim), nil))
	}
	if l.graph, err = newDreams(s.model, 2*s.job.config.Pairs); err != nil {
		return err
	}
	l.optimiser, s.asleep = newAdam(l.graph.machine.params), l
	return nil
}

// sleep is the second half of wake and sleep (Hinton, Dayan, Frey and Neal 1995), with frames instead of bare drawings: frames are
// moved to latents z around their own m as the decoder has it, x + f(z) - f(m), and the encoder alone learns to read them. There
// are as many as wanted, where there may be only eighty frames: what the encoder learnt of those by heart it unlearns. What the
// decoder cannot draw stays in the picture, so that the encoder is not drawn to the decoder's mistakes.
func (s *session) sleep(ctx context.Context) error {
	if s.asleep == nil {
		if err := s.fallAsleep(); err != nil {
			return err
		}
	}
	for l := s.asleep; l.done < l.steps; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.dream(l); err != nil {
			return err
		}
		if err := l.graph.machine.run(); err != nil {
			return fmt.Errorf("sleep, step %d: %w", l.done, err)
		}
		rate := l.rate * min(float64(l.done+1)/sleepWarmup, 1) * cosine(l.done, l.steps)
		if err := l.optimiser.update(&l.graph.machine, rate); err != nil {
			return err
		}
		s.model.constrain()
		l.done++
		if err := s.job.tell(float64(l.graph.loss.Data().(float32)), nil, l.done%s.job.config.Every == 0); err != nil {
			return err
		}
	}
	return s.model.calibrate(s.job.clip, spread(framesOf(s.job.train), maxCalibration))
}

// dream fills a batch.
func (s *session) dream(l *sleeper) error {
	d, size, n, rows := s.model.Dim, s.job.clip.Size(), len(l.awake.Mean)/s.model.Dim, 2*s.job.config.Pairs
	mean, logDiag, weight := l.graph.mean.Data().([]float32), l.graph.logDiag.Data().([]float32), l.graph.weight.Data().([]float32)
	x := l.graph.x.Data().([]float32)
	for k := range rows {
		near := s.rng.IntN(n)
		l.near[k] = near
		from := near
		for i := range d {
			if i > 0 && i%2 == 0 && i <= 2*l.things {
				from = s.rng.IntN(n)
			}
			mean[k*d+i] = l.awake.Mean[from*d+i] + float32(sleepWidth*l.sd[i]*s.rng.NormFloat64())
			if weight[k*d+i] = 0; l.sd[i] > 0 { // else it rests
				weight[k*d+i] = float32(1 / (l.sd[i]*l.sd[i] + 1e-12)) // a dead latent has next to no sd
			}
		}
		copy(logDiag[k*d:(k+1)*d], l.awake.LogDiag[near*d:])
		if l.clock != nil {
			l.graph.clock.Data().([]float32)[k] = l.clock[near]
		}
		if l.graph.below != nil {
			copy(l.graph.below.Data().([]float32)[k*below(d):(k+1)*below(d)], l.awake.Below[near*below(d):])
		}
	}
	if err := l.draw(x, mean, rows); err != nil {
		return err
	}
	for k := range rows {
		for p, v := range s.leftIn(l, k) {
			x[k*size+p] = min(max(x[k*size+p]+v, 0), 1)
		}
	}
	return nil
}

// leftIn is what drawing k leaves of its frame; or some frame's noise, moved to some place, so that it is never met twice.
func (s *session) leftIn(l *sleeper, k int) []float32 {
	size := s.job.clip.Size()
	if l.bare == nil {
		return l.left[l.near[k]*size : (l.near[k]+1)*size]
	}
	of := s.rng.IntN(len(l.left) / size)
	s.job.clip.roll(l.bare, l.left[of*size:(of+1)*size], s.rng.IntN(s.job.clip.Width), s.rng.IntN(s.job.clip.Height))
	return l.bare
}
