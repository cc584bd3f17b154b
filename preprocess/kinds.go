// Package preprocess converts a camera's picture to the form that an encoder was trained on. Steps scale grey values, equalise contrast, crop a region of
// interest, and resize. Each step has a file. A step borrows the frame, changes or replaces its Mat, and runs in one goroutine. check.go guards every call into
// OpenCV, because an OpenCV exception would end the process.
package preprocess

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"driftscope/internal/flow/pipeline"
)

// constructor makes one kind of step from its options. decode is strict: an unknown key is an error.
type constructor func(decode func(dst any) error) (pipeline.Step, error)

// kinds is the only list of steps. A new step needs its file, its test and one line here.
var kinds = map[string]constructor{
	"clahe":        newCLAHE,
	"defects":      newDefects,
	"illumination": newIllumination,
	"normalise":    newNormalise,
	"resize":       newResize,
	"roi":          newROI,
}

// New makes a step of the given kind. decode fills the options of the kind, which New checks.
func New(kind string, decode func(dst any) error) (pipeline.Step, error) {
	construct, known := kinds[kind]
	if !known {
		return nil, fmt.Errorf("step kind %q is not known: give one of %s", kind, strings.Join(Kinds(), ", "))
	}
	step, err := construct(decode)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", kind, err)
	}
	return step, nil
}

// Kinds returns the names New knows, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
