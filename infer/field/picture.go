package field

import (
	"context"
	"fmt"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// Bounds on a picture's sides, px. A template must fit into the picture, and every pixel index must fit into an int32.
const (
	leastSide = 16
	mostSide  = 16384
)

// Picture is the step that converts a frame to a grey float32 picture. Several Pictures may share the frames of a stream.
type Picture struct{ shown bool }

// NewPicture returns the step for pictures in which objects are located. The step refuses pictures beyond the locator's memory budget.
func NewPicture() *Picture { return &Picture{} }

// NewShown returns the step for pictures that are only displayed.
func NewShown() *Picture { return &Picture{shown: true} }

// Can returns Independent: frames may come in any order.
func (*Picture) Can() pipeline.Abilities { return pipeline.Abilities{Independent: true} }

// Apply accepts pictures of 8 or 16 bits or float32, grey or in three colours.
func (p *Picture) Apply(_ context.Context, f *frame.Frame) error {
	if err := check(f); err != nil {
		return err
	}
	m := f.Mat()
	if !p.shown {
		if err := frame.Objects.Check(m.Cols(), m.Rows()); err != nil {
			return fmt.Errorf("frame %d: %w", f.Seq, err)
		}
	}
	if m.Channels() == 3 {
		f.Replace(grey(m))
	}
	if m = f.Mat(); m.Type() != frame.MatTypeCV32FC1 {
		f.Replace(single(m))
		return nil
	}
	if !finite(m) {
		return &pipeline.ErrSkip{Cause: "not_finite", Err: fmt.Errorf("frame %d: the picture has values that are not finite: check the source", f.Seq)}
	}
	return nil
}

// Close does nothing.
func (*Picture) Close() error { return nil }

// check accepts only pictures that OpenCV can process, because an OpenCV exception would end the process.
func check(f *frame.Frame) error {
	m := f.Mat()
	if m.Ptr() == nil || m.Empty() {
		return &pipeline.ErrSkip{Cause: "empty_frame", Err: fmt.Errorf("frame %d: the picture is empty: check the source", f.Seq)}
	}
	if h, w := m.Rows(), m.Cols(); h < leastSide || w < leastSide || h > mostSide || w > mostSide {
		return fmt.Errorf("frame %d: found %dx%d pixels, expected %d to %d per side: crop or bin at the source", f.Seq, w, h, leastSide, mostSide)
	}
	switch m.Type() {
	case frame.MatTypeCV8UC1, frame.MatTypeCV8UC3, frame.MatTypeCV16UC1, frame.MatTypeCV16UC3, frame.MatTypeCV32FC1, frame.MatTypeCV32FC3:
	default:
		return fmt.Errorf("frame %d: found pixels of type %v, expected 8 or 16 bits or float32, grey or in three colours: convert at the source", f.Seq, m.Type())
	}
	if !m.IsContinuous() {
		f.Replace(m.Clone())
	}
	return nil
}

// values returns the pixels of a frame that has passed Picture, without a copy.
func values(f *frame.Frame) (pixels []float32, h, w int, err error) {
	m := f.Mat()
	if m.Type() != frame.MatTypeCV32FC1 {
		return nil, 0, 0, fmt.Errorf("frame %d: found pixels of type %v, expected grey float32 from the step picture", f.Seq, m.Type())
	}
	pixels, err = m.DataPtrFloat32()
	return pixels, m.Rows(), m.Cols(), err
}
