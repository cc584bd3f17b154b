package field

import (
	"context"
	"fmt"
	"math"

	"driftscope/infer/locate"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// Encoder finds the spots in frames, and the appearance of the objects there. It belongs to one goroutine.
type Encoder struct {
	locators *Locators // shared
	look     Look      // nil if only positions are needed
	spots    []locate.Spot
}

// NewEncoder returns an Encoder that borrows locators. Its Close closes look, which may be nil.
func NewEncoder(locators *Locators, look Look) *Encoder {
	return &Encoder{locators: locators, look: look}
}

// Dim returns the number of latents per object, 0 if only positions are needed.
func (e *Encoder) Dim() int {
	if e.look == nil {
		return 0
	}
	return e.look.Latents()
}

// Encode writes to dst the spots of a frame that has passed Picture and Template.
func (e *Encoder) Encode(_ context.Context, dst *latent.Sight, f *frame.Frame) error {
	pixels, h, w, err := values(f)
	if err != nil {
		return err
	}
	s := &dst.Spots
	s.Reset()
	s.Width, s.Height = sourceSize(f, w, h)
	if f.Meta.Template.SD == 0 {
		return nil
	}
	locator, err := e.locators.take(h, w, f.Meta.Template)
	if err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	e.spots = locator.of.Locate(e.spots[:0], pixels)
	s.Left = locator.of.Left()
	e.locators.give(locator)
	scale := scaleOf(f)
	if err := e.see(s, &Pixels{pixels, h, w}); err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	s.Template = f.Meta.Template.SD * math.Sqrt(scale.x*scale.y)
	for i := range e.spots {
		p := &e.spots[i]
		x, y := f.Source(p.X, p.Y)
		s.Found = append(s.Found, latent.Spot{X: x, Y: y, VarX: p.VarX * scale.x * scale.x, VarY: p.VarY * scale.y * scale.y, Amplitude: p.Amplitude, Score: p.Score})
	}
	return nil
}

// see writes the appearance of the objects at the spots.
func (e *Encoder) see(s *latent.Spots, p *Pixels) error {
	if e.look == nil {
		return nil
	}
	d := e.look.Latents()
	s.Latents, s.Z, s.ZSD = d, latent.Resize(s.Z, d*len(e.spots)), latent.Resize(s.ZSD, d*len(e.spots))
	for i := range e.spots {
		if err := e.look.See(s.Z[d*i:][:d], s.ZSD[d*i:][:d], p, e.spots[i].X, e.spots[i].Y); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the look.
func (e *Encoder) Close() error {
	if e.look == nil {
		return nil
	}
	return e.look.Close()
}

// scaleOf returns the width and height of a pixel, in pixels of the frame as read.
func scaleOf(f *frame.Frame) (s struct{ x, y float64 }) {
	x, y := f.Source(0, 0)
	right, down := f.Source(1, 1)
	s.x, s.y = right-x, down-y
	return s
}

// sourceSize returns the right and lower edge of the current picture, in pixels of the frame as read.
func sourceSize(f *frame.Frame, w, h int) (width, height int) {
	x, y := f.Source(float64(w)-0.5, float64(h)-0.5)
	return int(math.Round(x + 0.5)), int(math.Round(y + 0.5))
}
