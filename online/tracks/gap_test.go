package tracks

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkGaps: 2,000 objects of which nineteen of twenty frames are lost, as where tracking does not keep up.
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
