//go:build !cgo

package ingest

import (
	"errors"
	"slices"

	"driftscope/internal/flow/pipeline"
)

// errWithout is the error of a source that this build lacks.
var errWithout = errors.New("needs OpenCV, GStreamer or Aravis, and this build lacks them: use a build with OpenCV, on Linux (docs/howto/desk.md)")

// without is the constructor of a missing source. It returns errWithout.
func without(func(dst any) error) (pipeline.Source, error) { return nil, errWithout }

// The sources that this build lacks.
var newCamera, newGenICam, newGStreamer, newURL, newVideo constructor = without, without, without, without, without

// Lacks reports whether a kind is known but missing from this build.
func Lacks(kind string) bool {
	return slices.Contains([]string{"camera", "genicam", "gst", "url", "video"}, kind)
}
