package field

import (
	"context"
	"errors"
	"fmt"

	"driftscope/infer/locate"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// mostWait is the longest wait before the next search for the template, in frames. A search takes as long as about ten frames.
const mostWait = 64

// Template is the step that writes into every frame the width of its objects and whether they are darker than their surroundings. It
// searches one part of a frame. In a large picture each frame has its turn with another part. If no part shows an object, the search starts
// again after 1, 2, 4 frames and so on.
type Template struct {
	given frame.Template // by the user; SD 0 means that Template measures it
	found frame.Template
	part  int // next part of the picture to search
	wait  int // frames until the next search
	next  int // the wait after that

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
	found, err := locate.Search(h, w, pixels, t.part)
	t.part++
	switch {
	case errors.Is(err, locate.ErrNoSpots) && t.part < locate.Parts(h, w):
		return nil
	case errors.Is(err, locate.ErrNoSpots):
		t.part, t.wait, t.next = 0, t.next, min(max(2*t.next, 1), mostWait)
		return nil
	case err != nil:
		return &pipeline.ErrSkip{Cause: "no_template", Err: err}
	}
	t.found = frame.Template{SD: found.SD, Dark: found.Dark}
	polarity := "bright"
	if found.Dark {
		polarity = "dark"
	}
	f.Notice(false, "template_found", fmt.Sprintf("objects are %s spots with an sd of %.2f px, found in frame %d: if that is wrong, set objects.template_px and objects.polarity", polarity, found.SD, f.Seq))
	return nil
}

// Close does nothing.
func (*Template) Close() error { return nil }
