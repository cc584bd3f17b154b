package locate

import (
	"math"
	"slices"
)

// tile is the side of the squares whose levels the background joins, px; a template of sd s needs one of at least tilePerSD · s.
const (
	tile         = 32
	tilePerSD    = 12
	clipSDs      = 2.5 // pixels further than this from the level, in sds of the noise, are spots or their edges
	levelRuns    = 3   // of clipping, from the median of a few pixels on
	medianStride = 4   // of those, along both axes
)

// background keeps the level of every tile of a picture.
type background struct {
	h, w, side    int
	rows, columns int       // of tiles
	level         []float64 // rows × columns
	sorted        []float32 // scratch
}

func newBackground(h, w int, sd float64) *background {
	b := &background{h: h, w: w, side: min(max(tile, int(tilePerSD*sd)), max(h, w))}
	b.rows, b.columns = max(1, h/b.side), max(1, w/b.side)
	b.level = make([]float64, b.rows*b.columns)
	return b
}

// update sets the levels to a picture's.
func (b *background) update(picture []float32, noise Noise) {
	for r := range b.rows {
		for c := range b.columns {
			level := b.median(picture, r, c)
			for range levelRuns {
				level = b.clipped(picture, r, c, level, clipSDs*math.Sqrt(noise.At(level)))
			}
			b.level[r*b.columns+c] = level
		}
	}
}

// span is where tile k of n begins and ends along a side of so many pixels.
func span(k, n, side int) (from, to int) { return k * side / n, (k + 1) * side / n }

// clipped is the mean of the tile's pixels within reach of a level; the level itself where fewer than a tenth are.
func (b *background) clipped(picture []float32, r, c int, level, reach float64) float64 {
	y0, y1 := span(r, b.rows, b.h)
	x0, x1 := span(c, b.columns, b.w)
	low, high := float32(level-reach), float32(level+reach)
	var sum float64
	n := 0
	for y := y0; y < y1; y++ {
		var row float32
		for _, v := range picture[y*b.w+x0 : y*b.w+x1] {
			if v >= low && v <= high {
				row += v - float32(level)
				n++
			}
		}
		sum += float64(row)
	}
	if 10*n < (y1-y0)*(x1-x0) {
		return level
	}
	return level + sum/float64(n)
}

func (b *background) median(picture []float32, r, c int) float64 {
	y0, y1 := span(r, b.rows, b.h)
	x0, x1 := span(c, b.columns, b.w)
	b.sorted = b.sorted[:0]
	for y := y0; y < y1; y += medianStride {
		for x := x0; x < x1; x += medianStride {
			b.sorted = append(b.sorted, picture[y*b.w+x])
		}
	}
	slices.Sort(b.sorted)
	return float64(b.sorted[len(b.sorted)/2])
}

// subtract writes the picture less the background to residual, and the background to under, where that is given.
func (b *background) subtract(residual, under, picture []float32) {
	for y := range b.h {
		r, fy := between(y, b.rows, b.h)
		above, below := b.level[r*b.columns:(r+1)*b.columns], b.level[min(r+1, b.rows-1)*b.columns:][:b.columns]
		for c := -1; c < b.columns; c++ { // from the middle of tile c to that of the next
			from, to := middle(c, b.columns, b.w), middle(c+1, b.columns, b.w)
			left, right := max(c, 0), min(c+1, b.columns-1)
			start := above[left] + fy*(below[left]-above[left])
			end := above[right] + fy*(below[right]-above[right])
			x0, x1 := max(int(math.Ceil(from)), 0), min(int(math.Ceil(to)), b.w)
			slope := float32((end - start) / (to - from))
			at := float32(start + (float64(x0)-from)*float64(slope))
			row, out := picture[y*b.w:(y+1)*b.w], residual[y*b.w:(y+1)*b.w]
			for x := x0; x < x1; x++ {
				out[x] = row[x] - at
				under[y*b.w+x] = at
				at += slope
			}
		}
	}
}

// middle is that of tile k, px; those before the first and after the last lie at the picture's edges.
func middle(k, n, side int) float64 {
	switch {
	case k < 0:
		return -0.5
	case k >= n:
		return float64(side)
	}
	from, to := span(k, n, side)
	return float64(from+to-1) / 2
}

// between is the tile before pixel y and how far y lies on the way to the next one's middle.
func between(y, n, side int) (k int, share float64) {
	k = min(y*n/side, n-1)
	if float64(y) < middle(k, n, side) {
		k--
	}
	if k < 0 || k+1 >= n {
		return max(k, 0), 0
	}
	from := middle(k, n, side)
	return k, (float64(y) - from) / (middle(k+1, n, side) - from)
}
