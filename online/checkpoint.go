package online

import (
	"errors"
	"fmt"
	"io"

	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/regression"
)

// format describes a checkpoint of a law: everything that Update depends on, so that a restored estimator repeats the saved one exactly.
var format = archive.Format{
	Magic: "driftscope law\n", Version: 5, Unusable: ErrCheckpoint,
	Limit: 1 << 27, // the largest replay, network and dimension that Config allows make 1.1e8
}

// ErrCheckpoint reports bytes that are not a whole checkpoint of an estimator with this configuration.
var ErrCheckpoint = errors.New("unusable checkpoint")

// Save writes the state after the last Update. It does not wait for a running slice of refinement but saves its input.
func (e *Estimator) Save(w io.Writer) error {
	a := format.Writer()
	e.config.archive(a)
	e.law.archive(a)
	e.worker.Archive(a)
	if _, err := w.Write(format.Seal(a)); err != nil {
		return fmt.Errorf("checkpoint: %w: free some space or choose another path", err)
	}
	return nil
}

// Restore replaces the state by the checkpoint in r. If r is not a checkpoint of an estimator with the same Dim, Prior, Exposure, RefineLag, Refresh, Forget
// and Replay, Restore changes nothing and returns ErrCheckpoint. Freeze is not part of the state. The next Update reports the alarms that Restore switched on
// or off as events. Restore drops a running slice without waiting for it, and repeats the slice that was running during Save.
func (e *Estimator) Restore(r io.Reader) error {
	a, err := format.Read(r)
	if err != nil {
		return err
	}
	e.config.archive(a)
	if a.Err() != nil {
		return a.Err()
	}
	l, learner := begin(e.config)
	l.archive(a)
	learner.Archive(a)
	a.Require(!l.inFlight || l.due <= l.frame+e.config.RefineLag, "a slice due at frame %d, begun before frame %d", l.due, l.frame+1)
	if err := a.End(); err != nil {
		return err
	}
	l.banks.Describe(&l.sde)
	l.units.Describe(&l.sde.Units)
	l.describeRefinement()
	l.alarms.Restored(e.law.alarms)
	e.law = l
	e.worker.Replace(learner)
	if l.inFlight {
		e.worker.Begin(l.given)
	}
	return nil
}

// archive writes or checks the configuration under which a state may be restored.
func (c *Config) archive(a *archive.Codec) {
	a.Expect("dimension", uint64(c.Dim))
	a.Expect("refresh", c.Refresh)
	a.Expect("refine lag", c.RefineLag)
	a.Expect("replay", uint64(c.Replay))
	a.ExpectFloat("forget", c.Forget)
	a.ExpectFloat("exposure", c.Exposure.Seconds())
	if c.Prior == nil {
		a.Expect("size of the model's drift network", 0)
		return
	}
	a.Expect("size of the model's drift network", uint64(c.Prior.Size()))
	a.ExpectFloat("scale of the model's drift network", c.Prior.Scale)
	for _, list := range [][]float64{c.Prior.Centre, c.Prior.Weights} {
		for _, v := range list {
			a.ExpectFloat("weight of the model's drift network", v)
		}
	}
}

// archive reads or writes the law.
func (l *law) archive(a *archive.Codec) {
	a.Uint(&l.frame)
	l.clock.Archive(a)
	l.banks.Archive(a, l.sde.Activity)
	a.Uint(&l.sde.Revision)
	a.Uint(&l.sde.Held)
	l.tangent.Archive(a)
	l.filter.Archive(a)
	l.alarms.Archive(a)
	l.units.Archive(a)
	l.field.Archive(a)
	l.sde.Field = regression.ArchiveField(a, l.sde.Field, len(l.banks.Found))
	for _, count := range []*uint64{&l.refinement.Revision, &l.refinement.Frame, &l.refinement.Changes, &l.refinement.Failed, &l.refinement.Unused} {
		a.Uint(count)
	}
	l.pending.Archive(a)
	a.Bool(&l.gapped)
	a.Bool(&l.inFlight)
	a.Uint(&l.due)
	if l.inFlight {
		l.given.In.Archive(a)
		a.Require(l.given.In.Len() > 0, "a slice without latents")
		diffusion.ArchiveFound(a, l.given.Found, l.given.Activity)
	}
}
