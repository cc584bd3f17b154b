package objects

import (
	"errors"
	"fmt"
	"io"

	"driftscope/internal/kit/archive"
	"driftscope/online/population"
	"driftscope/online/tracks"
)

// format describes a checkpoint of a field. A checkpoint contains no live objects, because their positions are unknown when it is restored. It contains their
// steps and reserves their numbers.
var format = archive.Format{Magic: "driftscope objects\n", Version: 4, Limit: 4 << 20, Unusable: ErrCheckpoint}

// ErrCheckpoint reports data that are not a complete checkpoint of an estimator of objects.
var ErrCheckpoint = errors.New("unusable checkpoint of objects")

// known is the content of a checkpoint.
type known struct {
	learnt         tracks.Learnt
	common         population.Common
	shiftX, shiftY float64
	births, deaths uint64
	tracks, steps  uint64 // of ended objects
	hits, chances  float64
}

func (k *known) archive(c *archive.Codec) {
	k.learnt.Archive(c)
	k.common.Archive(c)
	c.Float(&k.shiftX)
	c.Float(&k.shiftY)
	c.Uint(&k.births)
	c.Uint(&k.deaths)
	c.Uint(&k.tracks)
	c.Uint(&k.steps)
	c.Magnitudes(&k.hits, &k.chances)
}

// count adds the track of an ended object.
func (k *known) count(l *population.Law) {
	if n := l.Steps(); n > 0 {
		k.tracks, k.steps = k.tracks+1, k.steps+n
	}
}

// Save writes the state after the last Update, without the followed object.
func (e *Estimator) Save(w io.Writer) error {
	k := e.known
	if e.tracker != nil {
		k.learnt = e.tracker.Learnt()
	}
	for _, id := range e.ids {
		if o := e.live[id]; o.confirmed {
			k.deaths++
			k.count(&o.law)
		}
	}
	c := format.Writer()
	k.archive(c)
	e.law.archive(c, e.pieces())
	if _, err := w.Write(format.Seal(c)); err != nil {
		return fmt.Errorf("checkpoint: %w: free some space or choose another path", err)
	}
	return nil
}

// Reserve skips object numbers that another estimator may have used since the restored checkpoint. Call it before the first Update.
func (e *Estimator) Reserve(numbers uint64) { e.known.learnt.Reserve(numbers) }

// Restore continues from the checkpoint in r. If r is not a valid checkpoint, Restore changes nothing and returns ErrCheckpoint. Live objects stay. Their
// laws restart, because their saved steps would count twice in a running stream. The evidence for a change of the law of all objects restarts too.
func (e *Estimator) Restore(r io.Reader) error {
	c, err := format.Read(r)
	if err != nil {
		return err
	}
	var k known
	k.archive(c)
	restored := law{exposure: e.law.exposure, learner: e.law.fresh(), changed: newChanged(e.law.exposure, e.law.changed.every)}
	if restored.archive(c, nil); c.End() != nil {
		restored.close()
		return c.End()
	}
	e.law.close()
	e.known, e.law = k, restored
	if e.tracker != nil && e.law.learner != nil { // a map for a field of another size restarts
		if err := e.law.learner.Begin(float64(e.size[0]), float64(e.size[1])); err != nil {
			return err
		}
	}
	if e.tracker != nil {
		e.tracker.Inherit(k.learnt)
	}
	for _, id := range e.ids {
		e.live[id].law, e.live[id].path = population.Law{}, path{}
	}
	return nil
}
