//go:build !cgo

package recording

import (
	"fmt"

	"driftscope/infer/card"
	"driftscope/internal/kit/console"
)

// newChain returns an error if there are steps, because they need OpenCV.
func newChain(steps []card.Step) (chain, error) {
	if len(steps) > 0 {
		return nil, console.Usage(fmt.Errorf("preprocess[0] %s: this build is without OpenCV: use a build with it (docs/howto/desk.md)", steps[0].Kind))
	}
	return nil, nil
}
