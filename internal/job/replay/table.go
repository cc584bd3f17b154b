package replay

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"driftscope/internal/flow/latent"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/internal/job/recording"
	"driftscope/sinks/message"
)

// place is the position of an object in a frame.
type place struct {
	frame int32
	id    int64
	x, y  float64 // px
}

// table is a table of tracks, fully in memory: at most tracking.MaxRows positions of 32 bytes.
type table struct {
	path   string
	places []place // by frame, then by number
	size   extent  // box that contains all positions
	begun  int     // index of the first position in the next frame
	record record
}

// openTable reads a table with rows in any order. It counts the rows first, because a growing list takes several times the memory.
func openTable(path string) (results, error) {
	rows := 0
	if err := tracking.Rows(path, func(int64, tracking.Point) error { rows++; return nil }); err != nil {
		return nil, err
	}
	t := &table{path: path, places: make([]place, 0, rows)}
	if err := tracking.Rows(path, t.add); err != nil {
		return nil, err
	}
	if len(t.places) == 0 {
		return nil, fmt.Errorf("%s: no row in it: give a table of tracks", path)
	}
	slices.SortFunc(t.places, func(a, b place) int { return cmp.Or(cmp.Compare(a.frame, b.frame), cmp.Compare(a.id, b.id)) })
	for i := range t.places[1:] {
		if a, b := t.places[i], t.places[i+1]; a.frame == b.frame && a.id == b.id {
			return nil, fmt.Errorf("%s: particle %d is twice in frame %d: give every object a number of its own", path, a.id, a.frame)
		}
	}
	return t, nil
}

func (t *table) add(particle int64, at tracking.Point) error {
	if particle < 0 {
		return fmt.Errorf("particle %d, expected numbers from 0", particle)
	}
	if most := max(math.Abs(at.X), math.Abs(at.Y)); most >= mostSide {
		return fmt.Errorf("a position at %g, %g, but a picture has at most %d px per side: give positions in px", at.X, at.Y, mostSide)
	}
	t.places = append(t.places, place{int32(at.Frame), particle, at.X, at.Y})
	t.size = extent{max(t.size.width, int(at.X)+1), max(t.size.height, int(at.Y)+1)}
	return nil
}

func (t *table) rewind() error  { t.begun = 0; return nil }
func (t *table) stream() string { return recording.StreamName(t.path) }
func (t *table) close() error   { return nil }

// next returns the objects of the next frame that has any.
func (t *table) next() (*record, error) {
	rest := t.places[t.begun:]
	if len(rest) == 0 {
		return nil, io.EOF
	}
	t.record.kind, t.record.seq, t.record.frame, t.record.size = latent.KindObjects, uint64(rest[0].frame), true, t.size
	o := &t.record.field
	o.Reset()
	for _, p := range rest {
		if p.frame != rest[0].frame {
			break
		}
		o.ID, o.X, o.Y, o.Marks = append(o.ID, uint64(p.id)), append(o.X, p.x), append(o.Y, p.y), append(o.Marks, 0)
		o.SD, o.D, o.Doubt = append(o.SD, math.NaN()), append(o.D, math.NaN()), append(o.Doubt, math.NaN()) // not known
	}
	if len(o.ID) > message.MaxObjects {
		return nil, fmt.Errorf("%s: %d objects in frame %d, a message has at most %d: split the field", t.path, len(o.ID), t.record.seq, message.MaxObjects)
	}
	t.begun += len(o.ID)
	return &t.record, nil
}
