package tracks

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkGaps follows 2,000 objects with 19 of 20 frames lost, as if tracking fell behind.
func BenchmarkGaps(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	t, err := New(Options{Width: 512, Height: 512, Template: 1.4})
	if err != nil {
		b.Fatal(err)
	}
	at := make([]Detection, 2000)
	for i := range at {
		at[i] = Detection{X: 512 * rng.Float64(), Y: 512 * rng.Float64(), VarX: 0.02, VarY: 0.02, Score: 10}
	}
	frame := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		for i := range at {
			at[i].X, at[i].Y = at[i].X+9*rng.NormFloat64(), at[i].Y+9*rng.NormFloat64()
			if x, y := at[i].X, at[i].Y; x < 0 || y < 0 || x > 511 || y > 511 {
				at[i].X, at[i].Y = 512*rng.Float64(), 512*rng.Float64()
			}
		}
		frame += 20
		t.Update(frame, at)
	}
}

// TestPass follows nine objects with steps of 0.3 px that never end. After 300 lost frames, reported by Pass or by the frame numbers, they have moved by
// about 5 px and keep their numbers. Objects that live for 30 frames do not survive; new objects get new numbers.
func TestPass(t *testing.T) {
	for name, c := range map[string]struct {
		lives  int
		pass   int // number of the 300 lost frames that Pass reports
		number uint64
		kept   int
	}{"by Pass": {1 << 20, 299, 1, 9}, "by the number": {1 << 20, 0, 300, 9}, "those that end": {30, 299, 1, 0}} {
		rng, k := rand.New(rand.NewPCG(23, 24)), tracker(t)
		at := make([][2]float64, 9)
		place := func(i int) [2]float64 { return [2]float64{40 + 85*float64(i%3), 40 + 85*float64(i/3)} }
		for i := range at {
			at[i] = place(i)
		}
		frame := uint64(0)
		update := func() (ids [9]uint64) {
			detections := make([]Detection, len(at))
			for i := range at {
				detections[i] = seen(rng, at[i][0], at[i][1])
			}
			for _, p := range k.Update(frame, detections) {
				if p.Detection >= 0 {
					ids[p.Detection] = p.ID
				}
			}
			return ids
		}
		var before [9]uint64
		for range 300 {
			for i := range at {
				at[i][0], at[i][1] = at[i][0]+0.3*rng.NormFloat64(), at[i][1]+0.3*rng.NormFloat64()
				if (int(frame)+3*i)%c.lives == 0 { // a new object at another position
					p := place(i)
					at[i] = [2]float64{p[0] + 30*(rng.Float64()-0.5), p[1] + 30*(rng.Float64()-0.5)}
				}
			}
			before = update()
			frame++
		}
		for i := range at {
			at[i][0], at[i][1] = at[i][0]+0.3*17*rng.NormFloat64(), at[i][1]+0.3*17*rng.NormFloat64() // √300
		}
		k.Pass(c.pass)
		frame += c.number - 1
		var after [9]uint64
		for range 5 {
			after = update()
			frame++
		}
		kept := 0
		for i := range at {
			if after[i] == before[i] {
				kept++
			} else if after[i] <= slices.Max(before[:]) {
				t.Errorf("%s: the number %d is reused", name, after[i])
			}
		}
		if kept != c.kept {
			t.Errorf("%s: %d of 9 keep their number, expected %d: %v, then %v", name, kept, c.kept, before, after)
		}
	}
}

// TestStepsOverGaps verifies that the variance of a step is right to a quarter with four of five frames lost. 120 steps of each of three objects give it to a
// tenth, and the prior adds to the error.
func TestStepsOverGaps(t *testing.T) {
	rng, k := rand.New(rand.NewPCG(25, 26)), tracker(t)
	const sd, apart = 0.5, 5
	at := [][2]float64{{60, 60}, {128, 128}, {200, 200}}
	found := map[uint64]float64{}
	for f := range 120 {
		var detections []Detection
		for i := range at {
			for range apart {
				at[i][0], at[i][1] = at[i][0]+sd*rng.NormFloat64(), at[i][1]+sd*rng.NormFloat64()
			}
			detections = append(detections, seen(rng, at[i][0], at[i][1]))
		}
		for _, p := range k.Update(uint64(apart*f), detections) {
			found[p.ID] = p.Q
		}
	}
	mean := 0.0
	for _, q := range found {
		mean += q / float64(len(found))
	}
	if len(found) != len(at) || mean < 0.75*sd*sd || mean > 1.25*sd*sd {
		t.Errorf("%d objects, a variance of %.3f px² per frame, expected %d and %.3f", len(found), mean, len(at), sd*sd)
	}
}
