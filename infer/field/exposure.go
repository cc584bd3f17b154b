package field

import (
	"fmt"
	"slices"

	"driftscope/internal/flow/frame"
)

// exposure tells once of pictures that are cut off at the brightest value that a camera gives: objects there are flat, so that their widths and places are
// less well known than is said.
type exposure struct {
	frames int // looked at or passed over
	told   bool
}

const (
	exposureEvery = 25   // frames: half a second of 50 a second; a picture takes a tenth of a millisecond
	leastCut      = 1e-4 // of the pixels, 26 of 512x512: hot ones are fewer
)

// tops are the brightest values of 8, 10, 12, 14 and 16 bits.
var tops = []float32{255, 1023, 4095, 16383, 65535}

// look takes in the pixels of a frame that went through Picture.
func (e *exposure) look(f *frame.Frame, pixels []float32) {
	due := e.frames%exposureEvery == 0
	if e.frames++; e.told || !due {
		return
	}
	top := slices.Max(pixels)
	if !slices.Contains(tops, top) {
		return
	}
	n := 0
	for _, v := range pixels {
		if v == top {
			n++
		}
	}
	if share := float64(n) / float64(len(pixels)); share > leastCut {
		e.told = true
		f.Notice(true, "saturated", fmt.Sprintf("%.2f %% of the pixels are saturated at %g, so positions and widths there are less certain than stated: expose for less time", 100*share, top))
	}
}
