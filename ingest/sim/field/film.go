package field

import (
	"io"
	"slices"

	"driftscope/ingest/sim"
)

// DT is the time between two frames, s. The scenarios are defined in frames.
const DT = 1.0 / 50

// Film gives a field's frames one after another, for a recording with the truth as tracks.
type Film struct {
	field *Field
	next  int
}

// Film begins at the first frame. A field has one: its noise is drawn as frames are.
func (f *Field) Film() *Film { return &Film{field: f} }

// Next draws the next frame; io.EOF after the last.
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

// columns are what Tracks tells of an object in a frame: its place in px, its distance from the focus in px, and the share of its light.
var columns = []string{"x", "y", "z", "light"}

// Columns are x and y, and z and light of the scenarios in which these change.
func (f *Film) Columns() []string {
	switch f.field.o.Scenario {
	case Bleaching, Blinking, Focus:
		return columns
	}
	return columns[:2]
}

// Tracks tells the true tracks, object by object.
func (f *Film) Tracks(write func(frame, particle int, values []float64)) {
	n := len(f.Columns())
	for particle, track := range f.field.Tracks {
		for _, p := range track {
			values := [...]float64{p.X, p.Y, p.Z, p.Light}
			write(p.Frame, particle, values[:n])
		}
	}
}
