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
}

// kernelReach is how many sds of the template the filter sees.
const kernelReach = 3

func newKernel(sd float64) *kernel {
	k := &kernel{sd: sd, reach: max(2, int(math.Ceil(kernelReach*sd)))}
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

// filter convolves pictures of h × w with the kernel along both axes.
type filter struct {
	h, w    int
	padded  []float32 // rows of w + 2 reach, mirrored at the edges
	columns []float32 // h × w, filtered along x
}

func newFilter(h, w int, k *kernel) *filter {
	return &filter{h: h, w: w, padded: make([]float32, w+2*k.reach), columns: make([]float32, h*w)}
}

// apply sets dst to the picture filtered by k. Rows and columns are sums of shifted ones, which BLAS adds eight pixels at a time.
func (f *filter) apply(dst, picture []float32, k *kernel) {
	w, reach := f.w, k.reach
	row := f.padded[:w+2*reach]
	for y := range f.h {
		copy(row[reach:], picture[y*w:(y+1)*w])
		for i := 1; i <= reach; i++ {
			row[reach-i] = row[reach+min(i, w-1)]
			row[reach+w-1+i] = row[reach+w-1-min(i, w-1)]
		}
		out := f.columns[y*w : (y+1)*w]
		clear(out)
		for i, tap := range k.taps {
			axpy(tap, row[reach+i:reach+i+w], out)
			if i > 0 {
				axpy(tap, row[reach-i:reach-i+w], out)
			}
		}
	}
	for y := range f.h {
		out := dst[y*w : (y+1)*w]
		clear(out)
		for i, tap := range k.taps {
			axpy(tap, f.line(y+i), out)
			if i > 0 {
				axpy(tap, f.line(y-i), out)
			}
		}
	}
}

// line is row y of the columns, mirrored at the edges.
func (f *filter) line(y int) []float32 {
	if y < 0 {
		y = min(-y, f.h-1)
	}
	if y >= f.h {
		y = max(2*f.h-2-y, 0)
	}
	return f.columns[y*f.w : (y+1)*f.w]
}

func axpy(a float32, x, y []float32) {
	blas32.Axpy(a, blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
}
