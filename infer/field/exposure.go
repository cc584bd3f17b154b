package field

import (
	"fmt"
	"slices"

	"driftscope/internal/flow/frame"
)

// exposure reports once that pictures are clipped at a camera's brightest value. Clipped objects have flat tops, so their widths and positions are less certain
// than their sds.
type exposure struct {
	frames int // number of frames, checked or skipped
	told   bool
}

const (
	exposureEvery = 25   // frames between checks: half a second at 50 frames per second; a check takes 0.1 ms
	leastCut      = 1e-4 // smallest share of clipped pixels, 26 of 512x512; hot pixels are fewer
)

// tops lists the brightest values of cameras with 8, 10, 12, 14 and 16 bits.
var tops = []float32{255, 1023, 4095, 16383, 65535}

// look checks the pixels of a frame that has passed Picture.
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
