package field

import (
	"io"
	"slices"

	"driftscope/ingest/sim"
)

// DT is the time between two frames, s. The scenarios themselves are defined per frame, not per second.
const DT = 1.0 / 50

// Film returns the frames of a field in order, for sim.Record, which also writes the true tracks.
type Film struct {
	field *Field
	next  int
}

// Film returns a Film at the first frame. Use only one Film per field, because each drawn frame advances the field's noise.
func (f *Field) Film() *Film { return &Film{field: f} }

// Next draws the next frame. io.EOF follows the last frame.
func (f *Film) Next(dst *sim.Picture) (sim.Truth, error) {
	if f.next >= f.field.o.Frames {
		return sim.Truth{}, io.EOF
	}
	dst.Format = format(f.field.o)
	dst.U16 = slices.Grow(dst.U16[:0], dst.Values())[:dst.Values()]
	f.field.Draw(f.next, dst.U16)
	f.next++
	return sim.Truth{T: float64(f.next-1) * DT, Inside: true}, nil
}

// columns are the values of an object in a frame: position in px, distance from the focus in px, and fraction of its full light.
var columns = []string{"x", "y", "z", "light"}

// Columns returns x and y, and z and light if they change in the scenario.
func (f *Film) Columns() []string {
	switch f.field.o.Scenario {
	case Bleaching, Blinking, Focus:
		return columns
	}
	return columns[:2]
}

// Tracks writes the true tracks, object by object.
func (f *Film) Tracks(write func(frame, particle int, values []float64)) {
	n := len(f.Columns())
	for particle, track := range f.field.Tracks {
		for _, p := range track {
			values := [...]float64{p.X, p.Y, p.Z, p.Light}
			write(p.Frame, particle, values[:n])
		}
	}
}
