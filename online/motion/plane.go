package motion

// nearby is the depth below the top, in nats, at which evaluation stops: e⁻¹² of the top.
const nearby = 12

// plane is a log density on a grid of two parameters, evaluated only near its top.
type plane struct {
	rows, columns int
	density       []float64 // row by row; never in unvisited cells
	known, seen   []bool
	todo          []int
	margins       []float64
}

func (p *plane) reset(rows, columns int) {
	p.rows, p.columns = rows, columns
	if len(p.density) != rows*columns {
		p.density = make([]float64, rows*columns)
		p.known, p.seen = make([]bool, rows*columns), make([]bool, rows*columns)
	}
	for i := range p.density {
		p.density[i], p.known[i], p.seen[i] = never, false, false
	}
}

// row returns the densities of one row.
func (p *plane) row(r int) []float64 { return p.density[r*p.columns : (r+1)*p.columns] }

func (p *plane) visit(cell int, at func(row, column int) float64) float64 {
	if !p.known[cell] {
		p.known[cell] = true
		p.density[cell] = at(cell/p.columns, cell%p.columns)
	}
	return p.density[cell]
}

// beside returns the cell some rows and columns away, and whether it exists.
func (p *plane) beside(cell, rows, columns int) (int, bool) {
	r, c := cell/p.columns+rows, cell%p.columns+columns
	return r*p.columns + c, r >= 0 && r < p.rows && c >= 0 && c < p.columns
}

var ways = [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}

// climb finds the top from a cell by strides of 4, 2 and 1, then visits the nearby cells around it.
func (p *plane) climb(best int, at func(row, column int) float64) {
	top := p.visit(best, at)
	for stride := 4; stride > 0; stride /= 2 {
		for moved := true; moved; {
			moved = false
			from := best
			for _, w := range ways {
				next, inside := p.beside(from, stride*w[0], stride*w[1])
				if !inside {
					continue
				}
				if v := p.visit(next, at); v > top {
					top, best, moved = v, next, true
				}
			}
		}
	}
	p.seen[best] = true
	for p.todo = append(p.todo[:0], best); len(p.todo) > 0; {
		cell := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		v := p.visit(cell, at)
		top = max(top, v)
		if v < top-nearby {
			continue
		}
		for _, w := range ways {
			if next, inside := p.beside(cell, w[0], w[1]); inside && !p.seen[next] {
				p.seen[next] = true
				p.todo = append(p.todo, next)
			}
		}
	}
}
