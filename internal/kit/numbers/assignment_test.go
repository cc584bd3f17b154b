package numbers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// best returns the smallest sum of costs, by trying all assignments.
func best(rows, columns int, cost map[[2]int]float64, row int, taken uint) float64 {
	if row == rows {
		return 0
	}
	least := best(rows, columns, cost, row+1, taken)
	for c := range columns {
		if v, ok := cost[[2]int{row, c}]; ok && taken&(1<<c) == 0 {
			least = math.Min(least, v+best(rows, columns, cost, row+1, taken|1<<c))
		}
	}
	return least
}

// TestSolve: Solve finds the smallest sum of costs, on random sparse problems of every shape.
func TestSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Solver
	for range 2000 {
		rows, columns := 1+rng.IntN(7), 1+rng.IntN(7)
		cost, pairs := map[[2]int]float64{}, []Pair(nil)
		for r := range rows {
			for c := range columns {
				if rng.Float64() < 0.6 {
					v := 3*rng.NormFloat64() - 1
					cost[[2]int{r, c}] = v
					pairs = append(pairs, Pair{r, c, v})
				}
			}
		}
		got, taken := 0.0, map[int32]bool{}
		for r, c := range s.Solve(rows, columns, pairs) {
			if c < 0 {
				continue
			}
			if taken[c] {
				t.Fatalf("column %d has two rows", c)
			}
			taken[c] = true
			got += cost[[2]int{r, int(c)}]
		}
		if want := best(rows, columns, cost, 0, 0); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%d × %d, %v: a sum of %g, the least is %g", rows, columns, pairs, got, want)
		}
	}
}

// TestSolveAllocates: Solve allocates nothing after a problem of the same size.
func TestSolveAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var pairs []Pair
	for r := range 500 {
		for range 5 {
			pairs = append(pairs, Pair{r, rng.IntN(500), -rng.Float64()})
		}
	}
	var s Solver
	s.Solve(500, 500, pairs)
	if n := testing.AllocsPerRun(5, func() { s.Solve(500, 500, pairs) }); n > 0 {
		t.Errorf("%g allocations a problem", n)
	}
}

func BenchmarkSolve(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var pairs []Pair
	for r := range 2000 {
		for range 5 {
			pairs = append(pairs, Pair{r, rng.IntN(2000), -10 * rng.Float64()})
		}
	}
	var s Solver
	for b.Loop() {
		s.Solve(2000, 2000, pairs)
	}
}
