package preprocess

/*
#include "spot.h"
*/
import "C"

import (
	"math"
	"unsafe"
)

// The Gaussian filter for spot detection.
const (
	smoothing  = 3.0 // sd, pixels
	kernelSide = 9   // pixels on each side of the centre, 3 sd
)

// blur applies the Gaussian filter. It continues a picture beyond its edges by reflection. Not safe for concurrent use.
type blur struct {
	half [kernelSide + 1]float32 // the kernel from its centre to one end
	line []float32               // scratch
}

func newBlur() *blur {
	b := &blur{}
	total := 0.0
	for i := -kernelSide; i <= kernelSide; i++ {
		total += bell(i)
	}
	for i := range b.half {
		b.half[i] = float32(bell(i) / total)
	}
	return b
}

// bell returns the kernel before normalisation to a sum of 1.
func bell(i int) float64 {
	u := float64(i) / smoothing
	return math.Exp(-u * u / 2)
}

// apply filters src, width*height pixels, into dst, which must not overlap src.
func (b *blur) apply(dst, src []float32, width, height int) {
	if n := width + 2*kernelSide; len(b.line) < n {
		b.line = make([]float32, n)
	}
	C.ds_blur(pictureOf(src, width, height), (*C.float)(&b.half[0]), kernelSide,
		(*C.float)(unsafe.SliceData(dst)), (*C.float)(unsafe.SliceData(b.line)))
}

// extremes returns the indices of the smallest and the largest value of v, the first of equal ones. v must not be empty. ok is false if v has non-finite
// values.
func extremes(v []float32) (least, greatest int, ok bool) {
	p := C.ds_extremes((*C.float)(unsafe.SliceData(v)), C.int(len(v)))
	return int(p.least), int(p.greatest), p.finite != 0
}

// pictureOf passes width*height pixels to a C call.
func pictureOf(pixels []float32, width, height int) C.ds_picture {
	return C.ds_picture{pixels: (*C.float)(unsafe.SliceData(pixels)), width: C.int(width), height: C.int(height)}
}
