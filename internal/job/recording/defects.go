//go:build cgo

package recording

import (
	"math"
	"slices"

	"driftscope/infer/card"
	"driftscope/internal/kit/numbers"
	"driftscope/preprocess"
)

// singles holds the sums that reveal defective pixels: for each pixel at full resolution, sums over the frames of its difference from the first frame.
type singles struct {
	first, previous      []float32
	sum, squares, lagged []float32
}

// maxSingles is the largest number of pixels of a frame that is searched for defects; their sums take 80 MiB.
const maxSingles = 1 << 22

// add folds in a frame's grey values.
func (s *singles) add(pixels []float32) {
	if s.first == nil {
		if len(pixels) > maxSingles {
			return
		}
		n := len(pixels)
		s.first, s.previous = slices.Clone(pixels), make([]float32, n)
		s.sum, s.squares, s.lagged = make([]float32, n), make([]float32, n), make([]float32, n)
	}
	for i, v := range pixels {
		v -= s.first[i]
		s.sum[i] += v
		s.squares[i] += v * v
		s.lagged[i] += v * s.previous[i]
		s.previous[i] = v
	}
}

// A defective pixel differs from its neighbours in the mean picture, and the neighbours agree with their own neighbours.
const (
	fewSingles   = 20   // least number of frames; a mean over fewer shows moving objects
	outstanding  = 6    // standard deviations of such differences over the picture; chance brings no pixel beyond it
	leastDefect  = 0.05 // share of the mean picture's range; a smaller defect is harmless
	spread       = 0.2  // largest share of its light in the pixels around it; a spot of half width 1.6 pixels leaves 0.25
	maxDefective = 0.01 // largest share of all pixels; more are a pattern, not defects
)

// defective returns the indices of the camera's hot and dead pixels, in ascending order. If a pixel's signal persists from frame to frame, it comes from the
// scene and the pixel is sound.
func (s *singles) defective(frames, width, height int) (found []int) {
	if s.first == nil || frames < fewSingles || width < 3 || height < 3 {
		return nil
	}
	n := float64(frames)
	mean := make([]float64, len(s.first))
	for i, v := range s.first {
		mean[i] = float64(v) + float64(s.sum[i])/n
	}
	sizes, alone := make([]float64, len(mean)), make([]bool, len(mean))
	for p, v := range mean {
		around, beyond := ring(mean, width, p, 1), middleOf(ring(mean, width, p, 2))
		beside := middleOf(around)
		extreme := v >= around[len(around)-2] || v <= around[1] // one neighbour may be defective too
		sizes[p], alone[p] = math.Abs(v-beside), extreme && math.Abs(beside-beyond) < spread*math.Abs(v-beyond)
	}
	least := max(outstanding*1.4826*numbers.Median(slices.Clone(sizes)), leastDefect*(slices.Max(mean)-slices.Min(mean)))
	for p, size := range sizes {
		if size > least && alone[p] && !s.lasts(p, n) {
			found = append(found, p)
		}
	}
	if len(found) > preprocess.MaxDefects || float64(len(found)) > maxDefective*float64(len(mean)) {
		return nil
	}
	return found
}

// lasts reports whether most of a pixel's variance is shared by neighbouring frames.
func (s *singles) lasts(p int, n float64) bool {
	m := float64(s.sum[p]) / n
	variance := float64(s.squares[p])/n - m*m
	return float64(s.lagged[p])/n-m*m > variance/2
}

// ring returns the sorted values of the pixels whose larger offset from p, in rows or columns, is distance. Pixels at the edges have fewer.
func ring(picture []float64, width, p, distance int) []float64 {
	values := make([]float64, 0, 16)
	x, y := p%width, p/width
	for row := max(y-distance, 0); row <= min(y+distance, len(picture)/width-1); row++ {
		for column := max(x-distance, 0); column <= min(x+distance, width-1); column++ {
			if max(row-y, y-row, column-x, x-column) == distance {
				values = append(values, picture[row*width+column])
			}
		}
	}
	slices.Sort(values)
	return values
}

// middleOf returns the median of sorted values. For an even number it is the mean of the two middle values.
func middleOf(sorted []float64) float64 {
	return (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
}

// Defects returns the number of defective pixels of the camera, and the preprocessing step that replaces them.
func (s *Survey) Defects() (n int, step card.Step) {
	if s.singles == nil {
		return 0, step
	}
	pixels := s.singles.defective(s.frames, s.Width, s.Height)
	if pixels == nil {
		return 0, step
	}
	return len(pixels), card.Step{Kind: "defects", Options: preprocess.DefectsOptions(s.Width, s.Height, pixels)}
}
