package locate

import "math"

// grid finds spots near a place, in cells of a few pixels.
type grid struct {
	side          float64
	rows, columns int
	cells         [][]int32
}

func newGrid(h, w int, sd float64) grid {
	g := grid{side: max(4, 3*sd)}
	g.rows, g.columns = int(float64(h)/g.side)+1, int(float64(w)/g.side)+1
	g.cells = make([][]int32, g.rows*g.columns)
	return g
}

func (g *grid) clear() {
	for i := range g.cells {
		g.cells[i] = g.cells[i][:0]
	}
}

func (g *grid) add(i int32, x, y float64) {
	c := &g.cells[int(y/g.side)*g.columns+int(x/g.side)]
	*c = append(*c, i)
}

// near calls visit for every spot in the cells within reach of a place.
func (g *grid) near(x, y, reach float64, visit func(k int32)) {
	r0, r1 := max(int((y-reach)/g.side), 0), min(int((y+reach)/g.side), g.rows-1)
	c0, c1 := max(int((x-reach)/g.side), 0), min(int((x+reach)/g.side), g.columns-1)
	for r := r0; r <= r1; r++ {
		for c := c0; c <= c1; c++ {
			for _, k := range g.cells[r*g.columns+c] {
				visit(k)
			}
		}
	}
}

// nearest is the distance of the nearest spot, as far as its cell or one around it holds one; else infinite.
func (g *grid) nearest(spots []spot, x, y float64) float64 {
	r, c := int(y/g.side), int(x/g.side)
	least := math.Inf(1)
	for i := max(0, r-1); i <= min(g.rows-1, r+1); i++ {
		for j := max(0, c-1); j <= min(g.columns-1, c+1); j++ {
			for _, k := range g.cells[i*g.columns+j] {
				least = min(least, math.Hypot(spots[k].x-x, spots[k].y-y))
			}
		}
	}
	return least
}
