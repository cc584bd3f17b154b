package locate

import (
	"cmp"
	"math"
	"math/bits"

	"driftscope/infer/locate/kernel"
)

// block is the side in px of the squares that are marked as changed and filtered again.
const block = 4

// joined is the largest gap, in unchanged blocks, that is filtered together with its neighbours. Filtering the gap costs no more than the extra ends of two
// separate stretches.
const joined = 8

// stretch is the longest part of a row that is filtered at once, px. All rows that its filter reads fit into the first-level cache.
const stretch = 512

// changes marks the parts of a picture of h × w whose scores no longer match the residual.
type changes struct {
	h, w        int
	rows, words int           // rows of blocks; 64-bit words per row
	stale       []uint64      // rows × words: one bit per block
	areas       []kernel.Area // areas to filter
}

func newChanges(h, w int) *changes {
	c := &changes{h: h, w: w, rows: (h + block - 1) / block, words: (w + 64*block - 1) / (64 * block)}
	c.stale = make([]uint64, c.rows*c.words)
	return c
}

// mark marks a changed area and everything within reach of it, because the scores change there too.
func (c *changes) mark(a kernel.Area, reach int) {
	if a.Empty() {
		return
	}
	r0, r1 := max(a.Y0-reach, 0)/block, min(a.Y1+reach-1, c.h-1)/block
	from, to := max(a.X0-reach, 0)/block, min(a.X1+reach-1, c.w-1)/block+1
	for k := from / 64; k <= (to-1)/64; k++ {
		ones := ^uint64(0) << max(0, from-64*k) & (^uint64(0) >> max(0, 64*(k+1)-to))
		for r := r0; r <= r1; r++ {
			c.stale[r*c.words+k] |= ones
		}
	}
}

// take sets areas to the marked area, in pieces no wider than a stretch, and clears the marks.
func (c *changes) take() {
	c.areas = c.areas[:0]
	for r := range c.rows {
		from, to := -1, -joined // blocks of the current piece
		for k, ones := range c.stale[r*c.words : (r+1)*c.words] {
			c.stale[r*c.words+k] = 0
			for ones != 0 {
				first := bits.TrailingZeros64(ones)
				n := bits.TrailingZeros64(^(ones >> first))
				ones &^= (1<<n - 1) << first
				first += 64 * k
				for end := first + n; first < end; first = to {
					if first >= to+joined || first-from >= stretch/block {
						c.add(r, from, to)
						from = first
					}
					to = min(end, from+stretch/block)
				}
			}
		}
		c.add(r, from, to)
	}
}

func (c *changes) add(r, from, to int) {
	if from >= 0 {
		c.areas = append(c.areas, kernel.Area{X0: from * block, Y0: r * block, X1: min(to*block, c.w), Y1: min((r+1)*block, c.h)})
	}
}

// filterChanges filters the residual again in changed areas. It then lists the maxima whose score may reach least.
func (l *Locator) filterChanges(least float64) {
	l.changes.take()
	low := l.lowest(least, l.camera) // a texture would raise it
	l.peaks = l.lanes.Sweep(l.filter, l.changes.areas, low)
}

// lowest returns the smallest filtered residual whose score can reach least anywhere in the picture, for a given noise.
func (l *Locator) lowest(least float64, noise Noise) float32 {
	return float32(0.999 * least * math.Sqrt(l.template.norm*noise.At(l.background.lowest())))
}

// score turns each maximum with a score of at least `least` into a seed. The score is (T * r)/√(var Σ T²), with the variance at the background's level. The
// variance changes little over a template, so the maxima of T * r serve as the maxima of the score.
func (l *Locator) score(least float64) {
	low := l.lowest(least, l.noise)
	l.seeds = l.seeds[:0]
	for _, at := range l.peaks {
		v := l.filter.Out.Pixels[at]
		if v < low {
			continue
		}
		x, y := int(at)%l.w, int(at)/l.w
		if z := float64(v) / math.Sqrt(l.template.norm*l.noise.At(l.background.at(x, y))); z >= least {
			l.seeds = append(l.seeds, seed{int32(x), int32(y), float32(z)})
		}
	}
}

// higher orders seeds by score, the highest first, and seeds of equal score by position.
func higher(a, b seed) int {
	if a.z != b.z {
		return cmp.Compare(b.z, a.z)
	}
	return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x))
}
