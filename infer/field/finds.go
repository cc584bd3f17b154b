package field

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"driftscope/infer/finder"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
)

// Extent is the number of latents of a body: its area in px², the standard deviations along and across its main axis in px, and the angle of the axis in
// radians.
const Extent = 4

// Tally counts the frames in which a finder found an object.
type Tally struct {
	Frames, Found atomic.Uint64
	Last          atomic.Uint64 // number of the last frame with a find
}

// found counts a frame with a find. Several lanes call it.
func (t *Tally) found(seq uint64) {
	t.Found.Add(1)
	for {
		if was := t.Last.Load(); seq <= was || t.Last.CompareAndSwap(was, seq) {
			return
		}
	}
}

// Finds is an encoder that returns the objects found by a finder. It belongs to one goroutine.
type Finds struct {
	finder *finder.Finder
	most   int // largest number of objects per frame
	tally  *Tally
	x, y   float64 // last position of a single object
}

// NewFinds returns an encoder of at most `most` objects per frame. Several encoders may share a finder and a tally.
func NewFinds(f *finder.Finder, most int, tally *Tally) *Finds {
	return &Finds{finder: f, most: most, tally: tally, x: math.NaN(), y: math.NaN()}
}

// Latents returns the number of latents per object for a finder.
func Latents(f *finder.Finder) int {
	if f.Kind == finder.Bodies || f.Kind == finder.OneBody {
		return Extent
	}
	return 0
}

// Dim returns the number of latents per object.
func (e *Finds) Dim() int { return Latents(e.finder) }

// Close does nothing.
func (e *Finds) Close() error { return nil }

// PictureOf returns the pixels of a frame that has passed Picture, without a copy.
func PictureOf(f *frame.Frame) (finder.Picture, error) {
	pixels, h, w, err := values(f)
	return finder.Picture{W: w, H: h, P: pixels}, err
}

// Encode writes to dst the objects in a frame that has passed Picture.
func (e *Finds) Encode(_ context.Context, dst *latent.Sight, f *frame.Frame) error {
	pixels, h, w, err := values(f)
	if err != nil {
		return err
	}
	s := &dst.Spots
	s.Reset()
	s.Width, s.Height = sourceSize(f, w, h)
	if e.finder.Kind == finder.Nothing {
		return nil
	}
	if fw, fh := e.finder.Size(); fw != w || fh != h {
		return fmt.Errorf("frame %d: found %dx%d pixels, but the first frames have %dx%d: give a film whose frames have one size", f.Seq, w, h, fw, fh)
	}
	found := e.finder.Find(finder.Picture{W: w, H: h, P: pixels}, e.x, e.y)
	e.tally.Frames.Add(1)
	if len(found) > 0 {
		e.x, e.y = found[0].X, found[0].Y
		e.tally.found(f.Seq)
	}
	s.Left = max(len(found)-e.most, 0)
	found = found[:len(found)-s.Left]
	scale := scaleOf(f)
	s.Template = e.finder.Scale * math.Sqrt(scale.x*scale.y)
	s.Latents = e.Dim()
	s.Z, s.ZSD = s.Z[:0], s.ZSD[:0]
	for i := range found {
		p := &found[i]
		x, y := f.Source(p.X, p.Y)
		s.Found = append(s.Found, latent.Spot{X: x, Y: y, VarX: p.VarX * scale.x * scale.x, VarY: p.VarY * scale.y * scale.y, Amplitude: p.Strength, Score: min(p.Z, mostScore)})
		if s.Latents > 0 {
			z, sd := p.Extent()
			s.Z, s.ZSD = append(s.Z, z[:]...), append(s.ZSD, sd[:]...)
		}
	}
	return nil
}

// mostScore bounds the score of an object; higher scores mean no more certainty.
const mostScore = 1e3

// Told is a step that reports a finder's result once, with the first frame.
type Told struct {
	finder *finder.Finder
	light  Template
	told   bool
}

// NewTold returns the step for a finder.
func NewTold(f *finder.Finder) *Told {
	return &Told{finder: f, light: Template{found: frame.Template{SD: max(f.Scale, .1), Dark: f.Dark}}}
}

// Can returns no abilities: frames must come in order.
func (*Told) Can() pipeline.Abilities { return pipeline.Abilities{} }

// Apply adds the event to the first frame, and checks for clipped pictures.
func (t *Told) Apply(ctx context.Context, f *frame.Frame) error {
	if !t.told {
		t.told = true
		f.Notice(t.finder.Level() != finder.Good, "first_contact", t.finder.String())
	}
	return t.light.Apply(ctx, f)
}

// Close does nothing.
func (*Told) Close() error { return nil }
