package preprocess

import (
	"fmt"
	"slices"
	"strings"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// MaxSide bounds a picture's rows and columns.
const MaxSide = 16384

// depthMask and channelShift split a gocv.MatType; cv::Mat's type is depth + (channels - 1)*8.
const (
	depthMask    = 7
	channelShift = 3
)

// check accepts only pictures that are safe for OpenCV: two-dimensional, not empty, at most MaxSide per side, with 1 or 3 channels and one of the given depths.
// It makes the pixels contiguous. It returns a skip for an empty picture, and an error for any other picture that it rejects.
func check(step string, f *frame.Frame, depths ...gocv.MatType) error {
	m := f.Mat()
	if m.Ptr() == nil || m.Empty() {
		return &pipeline.ErrSkip{Cause: "empty_frame", Err: complain(step, f, "the picture is empty: check the source")}
	}
	if rows, cols := m.Rows(), m.Cols(); rows < 1 || cols < 1 || rows > MaxSide || cols > MaxSide {
		return complain(step, f, "found %dx%d pixels, expected 1 to %d per side: crop or bin at the source", cols, rows, MaxSide)
	}
	if c := m.Channels(); c != 1 && c != 3 {
		return complain(step, f, "found %d channels, expected 1 (grey) or 3 (colour): convert at the source", c)
	}
	if !slices.Contains(depths, depth(m)) {
		return complain(step, f, "found %s pixels, expected %s: %s", depthName(depth(m)), depthNames(depths), remedy(step))
	}
	if !m.IsContinuous() {
		f.Replace(m.Clone())
	}
	return nil
}

// checkFinite returns a skip for a float picture that contains a NaN or an infinity.
func checkFinite(step string, f *frame.Frame) error {
	if depth(f.Mat()) == gocv.MatTypeCV32F && !gocv.CheckRange(*f.Mat()) {
		return &pipeline.ErrSkip{
			Cause: "not_finite",
			Err:   complain(step, f, "the picture contains values that are not finite numbers: check the source"),
		}
	}
	return nil
}

// complain returns an error about frame f in a step.
func complain(step string, f *frame.Frame, format string, args ...any) error {
	subject := fmt.Sprintf("step %s: frame %d", step, f.Seq)
	if f.Meta.File != "" {
		subject += " of " + f.Meta.File
	}
	return fmt.Errorf(subject+": %w", fmt.Errorf(format, args...))
}

// remedy returns advice on how to convert a depth that a step does not accept.
func remedy(step string) string {
	if step == "clahe" {
		return "put normalise before it"
	}
	return "convert at the source"
}

func depth(m *gocv.Mat) gocv.MatType { return m.Type() & depthMask }

func depthNames(depths []gocv.MatType) string {
	names := make([]string, len(depths))
	for i, d := range depths {
		names[i] = depthName(d)
	}
	return strings.Join(names, ", ")
}

// depthName returns the Go name of a pixel's type.
func depthName(d gocv.MatType) string {
	names := [...]string{"uint8", "int8", "uint16", "int16", "int32", "float32", "float64", "float16"}
	return names[d&depthMask]
}
