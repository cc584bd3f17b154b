package tracks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// numbered returns detections with the source's numbers.
func numbered(at map[uint64][2]float64) (all []Detection) {
	for id, p := range at {
		all = append(all, Detection{X: p[0], Y: p[1], VarX: 0.01, VarY: 0.01, Score: 10, ID: id})
	}
	return all
}

// ids returns the numbers of the detected and of the predicted points.
func ids(t *testing.T, points []Point) (seen, predicted []uint64) {
	t.Helper()
	for i := range points {
		p := &points[i]
		if !p.Confirmed || p.Doubt != 0 || p.Detection == Merged {
			t.Errorf("%+v", *p)
		}
		if p.Detection >= 0 {
			seen = append(seen, p.ID)
		} else {
			predicted = append(predicted, p.ID)
		}
	}
	return seen, predicted
}

// TestNamed: the source's numbers persist in events that no tracker could resolve: two objects exchange positions, one is absent for some frames, one jumps
// across the field, one returns after its track has ended. All happens at once, from the first frame on, with and without a lag. A later frame without
// numbers is linked by the tracker, and a new object then gets an unused number.
func TestNamed(t *testing.T) {
	for _, lag := range []int{0, 2} {
		tr, err := New(Options{Width: 200, Height: 200, Template: 1, Lag: lag})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		near := func(x, y float64) [2]float64 { return [2]float64{x + 0.1*rng.NormFloat64(), y + 0.1*rng.NormFloat64()} }
		at := func(k int) map[uint64][2]float64 {
			m := map[uint64][2]float64{2: near(50, 50), 900: near(55, 50), 31: near(100, 100), 77: near(20, 150)}
			if k%2 == 1 {
				m[2], m[900] = m[900], m[2]
			}
			if k >= 20 && k < 22 || k >= 40 && k < 60 {
				delete(m, 31)
			}
			if k == 30 {
				m[77] = [2]float64{190, 10}
			}
			return m
		}
		for k := range 80 {
			points := tr.Update(uint64(k), numbered(at(k)))
			if k < lag {
				continue
			}
			want := []uint64{2, 31, 77, 900}
			m := at(k - lag)
			if _, here := m[31]; !here {
				want = []uint64{2, 77, 900}
			}
			seen, predicted := ids(t, points)
			if !slices.Equal(seen, want) || len(predicted) > 0 && (len(want) == 4 || !slices.Equal(predicted, []uint64{31})) {
				t.Fatalf("lag %d, frame %d: %v detected, %v predicted, expected %v", lag, k-lag, seen, predicted, want)
			}
			for i := range points {
				if p := &points[i]; p.Detection >= 0 && math.Hypot(p.X-m[p.ID][0], p.Y-m[p.ID][1]) > 1 {
					t.Errorf("lag %d, frame %d: object %d is published at %.1f, %.1f, expected %v", lag, k-lag, p.ID, p.X, p.Y, m[p.ID])
				}
			}
		}
		if lag > 0 {
			continue
		}
		loose := []Detection{{X: 100, Y: 100, VarX: 0.01, VarY: 0.01, Score: 10}, {X: 150, Y: 30, VarX: 0.01, VarY: 0.01, Score: 10}}
		tr.Update(80, loose)
		var seen []uint64
		for _, p := range tr.Update(81, loose) {
			if p.Detection >= 0 {
				seen = append(seen, p.ID)
			}
		}
		if len(seen) != 2 || seen[0] != 31 || seen[1] <= 900 {
			t.Errorf("without numbers: found %v, expected 31 and one number above 900", seen)
		}
	}
}

// TestNamedAllocatesNothing: a frame with the source's numbers allocates nothing.
func TestNamedAllocatesNothing(t *testing.T) {
	tr, err := New(Options{Width: 200, Height: 200, Template: 1})
	if err != nil {
		t.Fatal(err)
	}
	var all []Detection
	for i := range 100 {
		all = append(all, Detection{X: float64(i%10) * 20, Y: float64(i/10) * 20, VarX: 0.01, VarY: 0.01, Score: 10, ID: uint64(i + 1)})
	}
	k := uint64(0)
	update := func() {
		tr.Update(k, all)
		k++
	}
	for range 20 {
		update()
	}
	if n := testing.AllocsPerRun(50, update); n > 0 {
		t.Errorf("%g allocations per frame", n)
	}
}
