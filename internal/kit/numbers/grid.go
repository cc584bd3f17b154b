package numbers

// Grid sorts numbered points into square cells; each cell is a list in the order of Add. It reuses its memory for every frame. Only one goroutine may use it.
type Grid struct {
	side          float64
	rows, columns int
	cells         []list
	points        []point
}

// list holds the indices of the first and the last point of a cell in Grid.points.
type list struct {
	first, last int32
	filled      bool
}

// point is an entry in the list of a cell.
type point struct {
	number int32
	next   int32 // index of the next entry in Grid.points; -1 at the end
}

// NewGrid returns an empty grid for a picture of width by height, with square cells of side, all in px. The reach for Near should not be much longer than side.
func NewGrid(width, height, side float64) Grid {
	g := Grid{side: side, rows: int(height/side) + 1, columns: int(width/side) + 1}
	g.cells = make([]list, g.rows*g.columns)
	return g
}

// Clear removes all points.
func (g *Grid) Clear() {
	for i := range g.cells {
		g.cells[i] = list{}
	}
	g.points = g.points[:0]
}

// Add adds point i at (x, y). A point outside the picture goes into the nearest cell.
func (g *Grid) Add(i int32, x, y float64) {
	cell := &g.cells[within(y/g.side, g.rows)*g.columns+within(x/g.side, g.columns)]
	at := int32(len(g.points))
	g.points = append(g.points, point{i, -1})
	if !cell.filled {
		cell.first = at
	} else {
		g.points[cell.last].next = at
	}
	cell.last, cell.filled = at, true
}

// Near calls visit for every point in the cells within reach of (x, y). Some of these points may be further away than reach. The order is by cell, then by Add.
func (g *Grid) Near(x, y, reach float64, visit func(i int32)) {
	r0, r1 := within((y-reach)/g.side, g.rows), within((y+reach)/g.side, g.rows)
	c0, c1 := within((x-reach)/g.side, g.columns), within((x+reach)/g.side, g.columns)
	for r := r0; r <= r1; r++ {
		for c := c0; c <= c1; c++ {
			cell := g.cells[r*g.columns+c]
			if !cell.filled {
				continue
			}
			for at := cell.first; at >= 0; at = g.points[at].next {
				visit(g.points[at].number)
			}
		}
	}
}

// within returns the index of the cell (of n) that contains v, or of the nearest cell.
func within(v float64, n int) int {
	if !(v > 0) { // also true for NaN
		return 0
	}
	return int(min(v, float64(n-1)))
}
