package field

import (
	"context"
	"fmt"

	"driftscope/infer/finder"
	"driftscope/infer/locate"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// mostWait is the longest wait before the next search for the template, in frames. A search takes as long as about ten frames.
const mostWait = 64

// Template is the step that writes into every frame the width of its objects, and whether they are darker than their surroundings. It searches one part of each
// frame, and in large pictures the next part in the next frame. If no part has an object, the search starts again after 1, 2, 4 frames and so on.
type Template struct {
	given frame.Template // the user's template; SD 0 means that Template measures it
	found frame.Template
	part  int // next part of the picture to search
	wait  int // frames until the next search
	next  int // frames to wait after that search

	exposure exposure
}

// NewTemplate returns the step. If given has an SD, in px, the step uses it and does not search.
func NewTemplate(given frame.Template) *Template { return &Template{given: given, found: given} }

// Can returns no abilities: frames must come in order.
func (*Template) Can() pipeline.Abilities { return pipeline.Abilities{} }

// Apply writes the template into the frame's Meta. Its width is 0 until objects are found.
func (t *Template) Apply(_ context.Context, f *frame.Frame) error {
	pixels, h, w, err := values(f)
	if err != nil {
		return err
	}
	t.exposure.look(f, pixels)
	if t.found.SD == 0 {
		if err := t.look(f, pixels, h, w); err != nil {
			return err
		}
	}
	f.Meta.Template = t.found
	return nil
}

func (t *Template) look(f *frame.Frame, pixels []float32, h, w int) error {
	if t.wait > 0 {
		t.wait--
		return nil
	}
	found, err := Light(partOf(finder.Picture{W: w, H: h, P: pixels}, t.part))
	if err != nil {
		return &pipeline.ErrSkip{Cause: "no_template", Err: err}
	}
	t.part++
	if found.SD == 0 {
		if t.part == parts(h)*parts(w) {
			t.part, t.wait, t.next = 0, t.next, min(max(2*t.next, 1), mostWait)
		}
		return nil
	}
	t.found = found
	polarity := "bright"
	if found.Dark {
		polarity = "dark"
	}
	f.Notice(false, "template_found", fmt.Sprintf("objects are %s spots with an sd of %.2f px, found in frame %d: if that is wrong, set objects.template_px and objects.polarity", polarity, found.SD, f.Seq))
	return nil
}

// Light returns the width and the polarity of the spots in a picture. The width is 0 if there are no spots, or if they are too wide.
func Light(p finder.Picture) (frame.Template, error) {
	seen, err := finder.Learn(finder.Sample{Frames: []finder.Picture{p}, At: []int{0}, Force: finder.ForceMany})
	if err != nil || seen.Kind == finder.Nothing || seen.Scale > locate.Widest(p.H, p.W) {
		return frame.Template{}, err
	}
	return frame.Template{SD: locate.Width(p.H, p.W, p.P, seen.Scale, seen.Dark), Dark: seen.Dark}, nil
}

// lookSide is the longest side of one search, px. A search in 1024x1024 pixels takes seconds of processor time, while a live camera continues.
const lookSide = 1024

// parts returns the number of parts of at most lookSide px that cover a side.
func parts(side int) int { return (side + lookSide - 1) / lookSide }

// partOf returns part k of a grid of parts over a picture, starting with the central part.
func partOf(p finder.Picture, k int) finder.Picture {
	down, across := parts(p.H), parts(p.W)
	k = (k + down/2*across + across/2) % (down * across)
	out := finder.Picture{W: min(p.W, lookSide), H: min(p.H, lookSide)}
	y, x := k/across*max(p.H-lookSide, 0)/max(down-1, 1), k%across*max(p.W-lookSide, 0)/max(across-1, 1)
	for j := range out.H {
		out.P = append(out.P, p.P[(y+j)*p.W+x:][:out.W]...)
	}
	return out
}

// Close does nothing.
func (*Template) Close() error { return nil }
