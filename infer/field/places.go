package field

import (
	"context"
	"fmt"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
)

// Places is an encoder for frames that contain positions instead of a picture. It converts the positions to px.
type Places struct {
	most     int     // largest number of positions per frame
	pixelUM  float64 // side of a pixel, µm; 0 if unknown
	template float64 // distance within which two objects may be one, px
}

// NewPlaces returns an encoder of at most `most` positions per frame. A template of 0 means one pixel.
func NewPlaces(most int, pixelUM, template float64) Places {
	if template == 0 {
		template = 1
	}
	return Places{most, pixelUM, template}
}

// Dim returns 0, because a position has no appearance.
func (Places) Dim() int { return 0 }

// Close does nothing.
func (Places) Close() error { return nil }

// certain is the score of every position: noise has fewer than 1e-19 maxima of this score per pixel.
const certain = 10

// Encode writes the positions in a frame to dst.
func (e Places) Encode(_ context.Context, dst *latent.Sight, f *frame.Frame) error {
	p, s, scale := f.Meta.Places, &dst.Spots, 1.0
	if p.Micrometres {
		scale = 1 / e.pixelUM
	}
	err := frame.Objects.Check(p.Width, p.Height)
	if p.Micrometres && e.pixelUM == 0 {
		err = fmt.Errorf("the positions are in µm, but the size of a pixel is unknown: give --pixel-um, or send px")
	}
	if err != nil {
		return &pipeline.ErrSkip{Cause: "bad_message", Err: fmt.Errorf("frame %d: %w", f.Seq, err)}
	}
	n := min(len(p.X), e.most)
	s.Reset()
	s.Width, s.Height, s.Template, s.Left = p.Width, p.Height, e.template, len(p.X)-n
	s.ID = append(s.ID, p.ID[:min(len(p.ID), n)]...)
	for i := range n {
		spot := latent.Spot{X: scale * p.X[i], Y: scale * p.Y[i], Score: certain}
		if len(p.SD) > 0 {
			spot.VarX = scale * scale * p.SD[i] * p.SD[i]
			spot.VarY = spot.VarX
		}
		s.Found = append(s.Found, spot)
	}
	return nil
}
