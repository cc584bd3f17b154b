package locate

import (
	"cmp"
	"math"
)

// block is the side of the squares that are scored again or not, px.
const block = 4

// joined is how many blocks that nothing changed between two that did are scored with them: filtering an end of a stretch costs as much.
const joined = 8

// changes is where the scores of a picture of h × w are no longer the residual's.
type changes struct {
	h, w          int
	rows, columns int    // of blocks
	stale         []bool // rows × columns
	areas         []area // that were scored last
}

// area is a part of a picture, from (x0, y0) on and before (x1, y1).
type area struct{ x0, y0, x1, y1 int }

func newChanges(h, w int) *changes {
	c := &changes{h: h, w: w, rows: (h + block - 1) / block, columns: (w + block - 1) / block}
	c.stale = make([]bool, c.rows*c.columns)
	return c
}

// all says that everything changed.
func (c *changes) all() {
	for i := range c.stale {
		c.stale[i] = true
	}
}

// mark says that an area changed, which scores see from within reach.
func (c *changes) mark(a area, reach int) {
	r0, r1 := max(a.y0-reach, 0)/block, min(a.y1+reach-1, c.h-1)/block
	c0, c1 := max(a.x0-reach, 0)/block, min(a.x1+reach-1, c.w-1)/block
	for r := r0; r <= r1; r++ {
		row := c.stale[r*c.columns+c0 : r*c.columns+c1+1]
		for i := range row {
			row[i] = true
		}
	}
}

// take sets areas to what changed, in pieces no wider than a stretch, and forgets it.
func (c *changes) take() {
	c.areas = c.areas[:0]
	for r := range c.rows {
		row := c.stale[r*c.columns : (r+1)*c.columns]
		from, to := -1, -joined // of the piece so far
		for i, stale := range row {
			if !stale {
				continue
			}
			row[i] = false
			if i >= to+joined || i-from >= stretch/block {
				c.add(r, from, to)
				from = i
			}
			to = i + 1
		}
		c.add(r, from, to)
	}
}

func (c *changes) add(r, from, to int) {
	if from >= 0 {
		c.areas = append(c.areas, area{from * block, r * block, min(to*block, c.w), min((r+1)*block, c.h)})
	}
}

// score lists the maxima of the filtered residual where it changed, whose score is least or more. The score is (T * r)/√(var Σ T²), by the noise of the
// background; that is so much the same over a template that the maxima are those of T * r.
func (l *Locator) score(least float64) {
	norm := l.kernel.norm
	l.filterChanges(float32(0.999 * least * math.Sqrt(norm*l.noise.At(l.background.lowest())))) // no score of least is lower, anywhere
	l.seeds = l.seeds[:0]
	for _, at := range l.high {
		x, y := int(at)%l.w, int(at)/l.w
		if x == 0 || x == l.w-1 || y == 0 || y == l.h-1 || !peak(l.filtered[int(at)-l.w-1:int(at)+l.w+2], l.w) {
			continue
		}
		if z := float64(l.filtered[at]) / math.Sqrt(norm*l.noise.At(l.background.at(x, y))); z >= least {
			l.seeds = append(l.seeds, seed{int32(x), int32(y), float32(z)})
		}
	}
}

// filterChanges filters the residual again where it changed, and lists the pixels there that are low or higher.
func (l *Locator) filterChanges(low float32) {
	l.changes.take()
	l.high = l.high[:0]
	for _, a := range l.changes.areas {
		for y := a.y0; y < a.y1; y++ {
			at := y*l.w + a.x0
			row := l.filtered[at : at+a.x1-a.x0]
			l.filter.apply(row, l.residual, y, a.x0)
			for i, v := range row {
				if v >= low {
					l.high = append(l.high, int32(at+i))
				}
			}
		}
	}
}

// peak tells whether the pixel in the middle of three rows, of a picture w wide, is above those about it; of equal ones the last is.
func peak(z []float32, w int) bool {
	v, up, here, down := z[w+1], z[:3], z[w:w+3], z[2*w:2*w+3]
	return v >= here[0] && v > here[2] && v >= up[0] && v >= up[1] && v >= up[2] && v > down[0] && v > down[1] && v > down[2]
}

// higher orders seeds, the highest first, and those of equal height by place.
func higher(a, b seed) int {
	if a.z != b.z {
		return cmp.Compare(b.z, a.z)
	}
	return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x))
}
