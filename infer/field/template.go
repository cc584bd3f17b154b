package field

import (
	"context"
	"errors"
	"fmt"

	"driftscope/infer/locate"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// mostWait is how many frames pass at most before the template is looked for again: a search takes as long as some ten frames.
const mostWait = 64

// Template is the step that tells every frame how wide its objects are, and whether they are darker than what is around them. It looks at one part of a
// frame, of a large picture at another part in each frame. If nothing stands out in any part, it begins again after 1, 2, 4 frames and so on.
type Template struct {
	given frame.Template // by the user; its SD is 0 where it is to be found
	found frame.Template
	part  int // of the picture, that it looks at next
	wait  int // frames until it looks again
	next  int // wait after that

	exposure exposure
}

// NewTemplate makes the step. Where given has an SD, px, that is the template's.
func NewTemplate(given frame.Template) *Template { return &Template{given: given, found: given} }

// Can is nothing more: frames have to come in order.
func (*Template) Can() pipeline.Abilities { return pipeline.Abilities{} }

// Apply writes the template into the frame's Meta: one without a width where nothing has been found yet.
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

// Close has nothing to free.
func (*Template) Close() error { return nil }
