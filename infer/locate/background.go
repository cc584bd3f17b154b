package locate

import (
	"math"
	"slices"

	"driftscope/internal/order"
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
	h, w          int
	rows, columns int       // of tiles
	level         []float64 // rows × columns
	lines         []float32 // rows × w: the background along the middles of rows of tiles
	sums          []sum     // scratch, of the tiles of a row
	few           []float32 // scratch
}

func newBackground(h, w int, sd float64) *background {
	b := &background{h: h, w: w}
	side := min(max(tile, int(tilePerSD*sd)), max(h, w))
	b.rows, b.columns = max(1, h/side), max(1, w/side)
	b.level, b.lines = make([]float64, b.rows*b.columns), make([]float32, b.rows*w)
	b.sums = make([]sum, b.columns)
	return b
}

// update sets the levels to a picture's.
func (b *background) update(picture []float32, noise Noise) {
	for r := range b.rows {
		for c := range b.columns {
			b.level[r*b.columns+c] = b.start(picture, r, c)
		}
		for range levelRuns {
			b.clip(picture, r, noise)
		}
	}
	b.spread()
}

// span is where tile k of n begins and ends along a side of so many pixels.
func span(k, n, side int) (from, to int) { return k * side / n, (k + 1) * side / n }

// sum is of pixels less a tile's level, as far as they are near it.
type sum struct {
	value     float64
	near, all int
	level     float32
	far       uint32 // bits of the least distance that is not near
}

// clip sets the levels of the tiles of row r to the means of their pixels near the levels so far. Those with fewer than a tenth there keep theirs.
func (b *background) clip(picture []float32, r int, noise Noise) {
	level := b.level[r*b.columns : (r+1)*b.columns]
	for c, v := range level {
		b.sums[c] = sum{level: float32(v), far: math.Float32bits(float32(clipSDs*math.Sqrt(noise.At(v)))) + 1}
	}
	y0, y1 := span(r, b.rows, b.h)
	for y := y0; y < y1; y++ { // row by row, as memory is read fastest
		for c := range b.sums {
			x0, x1 := span(c, b.columns, b.w)
			b.sums[c].add(picture[y*b.w+x0 : y*b.w+x1])
		}
	}
	for c, s := range b.sums {
		if 10*s.near >= s.all {
			level[c] += s.value / float64(s.near)
		}
	}
}

// add adds pixels, but for the last of an odd number: two sums at once, since each waits for the one before.
func (s *sum) add(row []float32) {
	var a, b float32
	n, level, far := 0, s.level, s.far
	for i := 1; i < len(row); i += 2 {
		v, in := within(row[i-1]-level, far)
		a, n = a+v, n+in
		v, in = within(row[i]-level, far)
		b, n = b+v, n+in
	}
	s.value, s.near, s.all = s.value+float64(a+b), s.near+n, s.all+len(row)
}

// within is v and 1 where |v|'s bits are less than far, and else 0, without a branch that the processor would guess wrong.
func within(v float32, far uint32) (float32, int) {
	bits := math.Float32bits(v)
	near := uint32(int32(bits&math.MaxInt32-far) >> 31) // all ones, or none
	return math.Float32frombits(bits & near), int(near & 1)
}

// start is the median of a few of the tile's pixels.
func (b *background) start(picture []float32, r, c int) float64 {
	y0, y1 := span(r, b.rows, b.h)
	x0, x1 := span(c, b.columns, b.w)
	b.few = b.few[:0]
	for y := y0; y < y1; y += medianStride {
		for x := x0; x < x1; x += medianStride {
			b.few = append(b.few, picture[y*b.w+x])
		}
	}
	return float64(order.Median(b.few))
}

// spread sets lines to the levels, linear between the tiles' middles.
func (b *background) spread() {
	for r := range b.rows {
		level, line := b.level[r*b.columns:(r+1)*b.columns], b.line(r)
		for x := range line {
			c, fx := between(x, b.columns, b.w)
			line[x] = float32(level[c] + fx*(level[min(c+1, b.columns-1)]-level[c]))
		}
	}
}

// subtract writes the picture less the background to residual.
func (b *background) subtract(residual, picture []float32) {
	copy(residual, picture)
	for y := range b.h {
		r, fy := between(y, b.rows, b.h)
		row := residual[y*b.w : (y+1)*b.w]
		axpy(float32(fy-1), b.line(r), row)
		if fy > 0 {
			axpy(float32(-fy), b.line(r+1), row)
		}
	}
}

// at is the background of pixel (x, y).
func (b *background) at(x, y int) float64 {
	r, fy := between(y, b.rows, b.h)
	v := (1 - fy) * float64(b.line(r)[x])
	if fy > 0 {
		v += fy * float64(b.line(r + 1)[x])
	}
	return v
}

// line is the background along the middle of row r of the tiles.
func (b *background) line(r int) []float32 { return b.lines[r*b.w : (r+1)*b.w] }

// lowest is the lowest level.
func (b *background) lowest() float64 { return slices.Min(b.level) }

// middle is that of tile k, px.
func middle(k, n, side int) float64 {
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
