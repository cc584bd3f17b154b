package locate

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// kernel is one axis of the template: exp(-k²/2s²) for k from -reach to reach.
type kernel struct {
	sd    float64
	reach int
	taps  []float32 // reach + 1, from the middle on
	norm  float64   // Σ T² over the picture
	fall  float64   // exp(-1/s²): second differences of the template's logarithm
}

// kernelReach is how many sds of the template the filter sees. One cut much nearer, where its edge is no longer small, makes maxima of its own.
const kernelReach = 3

func newKernel(sd float64) *kernel {
	k := &kernel{sd: sd, reach: max(2, int(math.Round(kernelReach*sd))), fall: math.Exp(-1 / (sd * sd))}
	var line float64
	for i := range k.reach + 1 {
		v := math.Exp(-float64(i*i) / (2 * sd * sd))
		k.taps = append(k.taps, float32(v))
		line += v * v
		if i > 0 {
			line += v * v
		}
	}
	k.norm = line * line
	return k
}

// stretch is the longest part of a row that is filtered at once, px: with the rows that it is made of it stays in the nearest cache.
const stretch = 512

// filter convolves pictures of h × w, mirrored at their edges, with the kernel along both axes.
type filter struct {
	h, w   int
	kernel *kernel
	down   []float32 // scratch: stretch + 2 reach, filtered along y
}

func newFilter(h, w int, k *kernel) *filter {
	return &filter{h: h, w: w, kernel: k, down: make([]float32, stretch+2*k.reach)}
}

// apply sets dst to the filtered picture from (y, x) on, as far as dst is long, which is a stretch at most. It is a sum of shifted rows, which BLAS adds
// four pixels at a time.
func (f *filter) apply(dst, picture []float32, y, x int) {
	w, reach := f.w, f.kernel.reach
	first := x - reach // the pixel that down begins with
	from, to := max(first, 0), min(x+len(dst)+reach, w)
	down := f.down[:len(dst)+2*reach]
	inside := down[from-first : to-first]
	clear(inside)
	for i, tap := range f.kernel.taps {
		axpy(tap, f.row(picture, y+i)[from:to], inside)
		if i > 0 {
			axpy(tap, f.row(picture, y-i)[from:to], inside)
		}
	}
	for k := first; k < 0; k++ {
		down[k-first] = down[-k-first]
	}
	for k := w; k < first+len(down); k++ {
		down[k-first] = down[2*w-2-k-first]
	}
	clear(dst)
	for i, tap := range f.kernel.taps {
		axpy(tap, down[reach+i:reach+i+len(dst)], dst)
		if i > 0 {
			axpy(tap, down[reach-i:reach-i+len(dst)], dst)
		}
	}
}

// row is row y of the picture, mirrored at the edges.
func (f *filter) row(picture []float32, y int) []float32 {
	if y < 0 {
		y = -y
	}
	if y >= f.h {
		y = 2*f.h - 2 - y
	}
	return picture[y*f.w : (y+1)*f.w]
}

func axpy(a float32, x, y []float32) {
	blas32.Axpy(a, blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
}
