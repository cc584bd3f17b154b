package objects

import (
	"errors"
	"fmt"
	"io"

	"driftscope/internal/archive"
	"driftscope/online/population"
	"driftscope/online/tracks"
)

// format is that of what is known of a field. The objects that are there are not part of it, because nobody knows where they are when it is read: their steps
// are, and their numbers are not used again.
var format = archive.Format{Magic: "driftscope objects\n", Version: 1, Limit: 1 << 16, Unusable: ErrCheckpoint}

// ErrCheckpoint is what Restore returns for bytes that are not a whole checkpoint of an estimator of objects.
var ErrCheckpoint = errors.New("unusable checkpoint of objects")

// known is what a checkpoint holds.
type known struct {
	learnt         tracks.Learnt
	common         population.Common
	shiftX, shiftY float64
	ended          population.Pool
	spectrum       population.Spectrum
	births, deaths uint64
	hits, chances  float64
}

func (k *known) archive(c *archive.Codec) {
	k.learnt.Archive(c)
	k.common.Archive(c)
	c.Float(&k.shiftX)
	c.Float(&k.shiftY)
	k.ended.Archive(c)
	k.spectrum.Archive(c)
	c.Uint(&k.births)
	c.Uint(&k.deaths)
	c.Magnitudes(&k.hits, &k.chances)
}

// Save writes what is known after the last Update. Of the object that is followed nothing is kept.
func (e *Estimator) Save(w io.Writer) error {
	k := e.known
	if e.tracker != nil {
		k.learnt = e.tracker.Learnt()
	}
	for _, id := range e.ids {
		if o := e.live[id]; o.confirmed {
			k.ended.Add(&o.law)
			k.spectrum.Add(&o.law)
			k.deaths++
		}
	}
	c := format.Writer()
	k.archive(c)
	if _, err := w.Write(format.Seal(c)); err != nil {
		return fmt.Errorf("checkpoint: %w: free some space or choose another path", err)
	}
	return nil
}

// Restore goes on from what was known. It returns ErrCheckpoint, having changed nothing, when r holds anything else. The objects that are there go on: where
// they had been saved, their steps so far count twice, so that a running stream begins their laws anew.
func (e *Estimator) Restore(r io.Reader) error {
	c, err := format.Read(r)
	if err != nil {
		return err
	}
	var k known
	k.archive(c)
	if err := c.End(); err != nil {
		return err
	}
	e.known = k
	if e.tracker != nil {
		e.tracker.Inherit(k.learnt)
	}
	for _, id := range e.ids {
		e.live[id].law = population.Law{}
	}
	return nil
}
