package numbers

// Pair is a possible pair of a row and a column, with its cost. An unpaired row costs 0, so Solve never uses a pair with a cost of 0 or more.
type Pair struct {
	Row, Column int
	Cost        float64
}

// Solver solves assignment problems, and reuses its memory. Only one goroutine may use it.
type Solver struct {
	first  []int32   // by row: index of its first pair in column and cost; one extra entry at the end
	column []int32   // by pair
	cost   []float64 // by pair
	next   []int32   // by row: index of its next pair during sorting

	rowOf   []int32   // by column: the row paired with it, or -1
	colOf   []int32   // by row: its column; numbers from columns on are dummy columns, which mean unpaired
	paid    []float64 // by row: the cost of its pair
	v       []float64 // by column: its price
	dist    []float64
	from    []int32 // by column: the row that reaches it at the lowest cost
	state   []uint8 // by column: not reached, in the heap, or done
	heap    []int32
	at      []int32 // by column: its index in the heap
	touched []int32
}

const (
	unreached = iota
	waiting
	done
)

// Solve pairs rows with columns by successive shortest paths (Jonker and Volgenant 1987, for sparse costs). match contains the column of every row, or -1. It
// is valid until the next call.
func (s *Solver) Solve(rows, columns int, pairs []Pair) (match []int32) {
	s.sort(rows, columns, pairs)
	for r := range rows {
		s.augment(int32(r), int32(columns))
	}
	for r, c := range s.colOf {
		if s.paid[r] -= s.v[c]; int(c) >= columns {
			s.colOf[r] = -1
		}
	}
	return s.colOf
}

// Prices returns the prices of the rows and columns of the last Solve, none above 0. Take the cost of a pair minus its two prices: an assignment with this pair
// costs at least that much more than the best assignment.
func (s *Solver) Prices() (rows, columns []float64) { return s.paid, s.v[:len(s.v)-len(s.paid)] }

// sort orders the pairs by row, with the dummy column of each row last.
func (s *Solver) sort(rows, columns int, pairs []Pair) {
	all := columns + rows
	s.first, s.next = Zeroed(s.first, rows+1), Zeroed(s.next, rows)
	n := 0
	for _, p := range pairs {
		if p.Cost < 0 {
			s.first[p.Row+1]++
			n++
		}
	}
	for r := range rows {
		s.first[r+1] += s.first[r] + 1
		s.next[r] = s.first[r]
	}
	n += rows
	s.column, s.cost = Zeroed(s.column, n), Zeroed(s.cost, n)
	put := func(r int, c int, cost float64) {
		s.column[s.next[r]], s.cost[s.next[r]] = int32(c), cost
		s.next[r]++
	}
	for _, p := range pairs {
		if p.Cost < 0 {
			put(p.Row, p.Column, p.Cost)
		}
	}
	for r := range rows {
		put(r, columns+r, 0)
	}
	s.rowOf, s.colOf, s.paid = Zeroed(s.rowOf, all), Zeroed(s.colOf, rows), Zeroed(s.paid, rows)
	s.v, s.dist, s.from, s.state, s.at = Zeroed(s.v, all), Zeroed(s.dist, all), Zeroed(s.from, all), Zeroed(s.state, all), Zeroed(s.at, all)
	for c := range s.rowOf {
		s.rowOf[c] = -1
	}
}

// augment pairs a free row along the shortest path to a free column.
func (s *Solver) augment(row, columns int32) {
	s.heap, s.touched = s.heap[:0], s.touched[:0]
	s.relax(row, 0, 0)
	var end int32
	for {
		c := s.pop()
		s.state[c] = done
		if s.rowOf[c] < 0 {
			end = c
			break
		}
		r := s.rowOf[c]
		s.relax(r, s.dist[c], s.paid[r]-s.v[c])
	}
	least := s.dist[end]
	for _, c := range s.touched {
		if s.state[c] == done {
			s.v[c] += s.dist[c] - least
		}
		s.state[c] = unreached
	}
	for c := end; ; {
		r := s.from[c]
		s.rowOf[c] = r
		before := s.colOf[r]
		s.colOf[r], s.paid[r] = c, s.costOf(r, c)
		if r == row {
			return
		}
		c = before
	}
}

// relax updates the distances of a row's columns. at is the distance of the row, and own the reduced cost of the row's own column, which relax subtracts.
func (s *Solver) relax(r int32, at, own float64) {
	for k := s.first[r]; k < s.first[r+1]; k++ {
		c := s.column[k]
		if s.state[c] == done {
			continue
		}
		d := at + s.cost[k] - s.v[c] - own
		switch {
		case s.state[c] == unreached:
			s.touched = append(s.touched, c)
			s.state[c], s.dist[c], s.from[c] = waiting, d, r
			s.at[c] = int32(len(s.heap))
			s.heap = append(s.heap, c)
			s.up(len(s.heap) - 1)
		case d < s.dist[c]:
			s.dist[c], s.from[c] = d, r
			s.up(int(s.at[c]))
		}
	}
}

func (s *Solver) costOf(r, c int32) float64 {
	for k := s.first[r]; ; k++ {
		if s.column[k] == c {
			return s.cost[k]
		}
	}
}

// less orders the heap of columns by distance. The column number breaks ties, so the result does not depend on the order of the pairs.
func (s *Solver) less(a, b int32) bool {
	return s.dist[a] < s.dist[b] || s.dist[a] == s.dist[b] && a < b
}

func (s *Solver) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !s.less(s.heap[i], s.heap[parent]) {
			return
		}
		s.swap(i, parent)
		i = parent
	}
}

func (s *Solver) pop() int32 {
	top := s.heap[0]
	last := len(s.heap) - 1
	s.swap(0, last)
	s.heap = s.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && s.less(s.heap[child+1], s.heap[child]) {
			child++
		}
		if !s.less(s.heap[child], s.heap[i]) {
			return top
		}
		s.swap(i, child)
		i = child
	}
}

func (s *Solver) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.at[s.heap[i]], s.at[s.heap[j]] = int32(i), int32(j)
}

// Zeroed returns n zeros, and reuses the memory of v if it is large enough.
func Zeroed[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n, n+n/2)
	}
	v = v[:n]
	clear(v)
	return v
}
