package sdevae

import (
	"context"
	"errors"
	"fmt"
)

// Look is one look at the held-out frames.
type Look struct {
	Restart, Step int
	Loss          float64 // training loss, averaged since the last look
	HeldOut       float64 // the loss on held-out pairs, without sampling noise
	Explained     float64 // share of the held-out pictures' variance that the reconstruction explains
}

// Progress is told after every step.
type Progress struct {
	Step, Steps int // in all
	Loss        float64
	Look        *Look // nil between looks
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

// job is what every restart works on.
type job struct {
	clip        *Clip
	config      Config
	train, held []Pair
	watch       func(Progress)
	taken       int // steps, of all restarts
}

// Train learns a model of the clip. watch, if not nil, is called from the same goroutine after every step.
// The same clip and config give the same model.
func Train(ctx context.Context, clip *Clip, c Config, watch func(Progress)) (*Result, error) {
	if err := clip.Check(); err != nil {
		return nil, err
	}
	j := &job{clip: clip, watch: watch}
	j.train, j.held = split(clip.Pairs(clip.MaxGap()))
	j.config = c.withDefaults(len(j.train))
	lead, err := j.race(ctx)
	if err != nil {
		return nil, err
	}
	defer lead.close()
	if err = lead.finish(ctx); err == nil && lead.best.Explained < minExplained {
		err = ErrMean
	}
	if err != nil {
		lead.model.Close()
		return nil, err
	}
	return &Result{Config: j.config, Model: lead.model, Best: lead.best, History: lead.history}, nil
}

// race takes every restart through its trial and gives the one that does best on the held-out pairs, with all their looks.
func (j *job) race(ctx context.Context) (lead *session, err error) {
	var looks []Look
	for restart := range j.config.Restarts {
		s, err := newSession(j, restart)
		if err == nil {
			err = s.run(ctx, j.config.trial())
			looks = append(looks, s.history...)
			lead = better(lead, s)
		}
		if err != nil {
			lead.discard()
			return nil, err
		}
	}
	lead.history = looks
	return lead, nil
}

// better keeps one of two sessions, either of which may be nil, and discards the other.
func better(a, b *session) *session {
	if a == nil || b != nil && b.best.HeldOut < a.best.HeldOut {
		a, b = b, a
	}
	b.discard()
	return a
}

// finish takes the lead to the end: the remaining steps, then sleep from the best look's weights.
func (s *session) finish(ctx context.Context) error {
	if err := s.run(ctx, s.config.Steps); err != nil {
		return err
	}
	if s.kept == nil {
		return fmt.Errorf("training broke down: the held-out loss was never finite; try a smaller rate than %g", s.config.Rate)
	}
	s.model.adopt(s.kept)
	return s.sleep(ctx)
}

// tell counts a step and reports it.
func (j *job) tell(loss float64, look *Look) {
	j.taken++
	if j.watch != nil {
		j.watch(Progress{Step: j.taken, Steps: j.config.TotalSteps(), Loss: loss, Look: look})
	}
}
