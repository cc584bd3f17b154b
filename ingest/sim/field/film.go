package field

import (
	"io"
	"slices"

	"driftscope/ingest/sim"
)

// DT is the time between two frames, s. The scenarios are defined in frames.
const DT = 0.1

// Film gives a field's frames one after another, for a recording with the truth as tracks.
type Film struct {
	field *Field
	next  int
}

// Film begins at the first frame. A field has one: its noise is drawn as frames are.
func (f *Field) Film() *Film { return &Film{field: f} }

// Next draws the next frame; io.EOF after the last.
func (f *Film) Next(dst *sim.Picture) (sim.Truth, error) {
	o := f.field.o
	if f.next >= o.Frames {
		return sim.Truth{}, io.EOF
	}
	dst.Format = sim.Format{Width: o.Width, Height: o.Height, Channels: 1, Depth: sim.Counts}
	dst.U16 = slices.Grow(dst.U16[:0], o.Width*o.Height)[:o.Width*o.Height]
	f.field.Draw(f.next, dst.U16)
	f.next++
	return sim.Truth{T: float64(f.next-1) * DT, Inside: true}, nil
}

// Tracks writes the true tracks, object by object.
func (f *Film) Tracks(write func(frame, particle int, x, y float64)) {
	for particle, track := range f.field.Tracks {
		for _, p := range track {
			write(p.Frame, particle, p.X, p.Y)
		}
	}
}
