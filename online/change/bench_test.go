package change

import (
	"math"
	"testing"

	"driftscope/online/states"
)

// lawOf returns a law of k states, known to a twentieth.
func lawOf(k int, spread float64) *states.Law {
	l := &states.Law{Tracks: 1000, Steps: 50000, Scale: 1, Stray: math.Log(1e-6), D: states.Interval{Value: 1, Low: 0.97, High: 1.03}, Spread: states.Interval{Value: spread, Low: spread, High: spread}}
	for j := range k {
		d, f := math.Pow(10, float64(j)), 1/float64(k)
		l.States = append(l.States, states.State{D: states.Interval{Value: d, Low: d * 0.97, High: d * 1.03}, Fraction: states.Interval{Value: f, Low: f * 0.95, High: f * 1.05}, Tracked: f})
	}
	return l
}

// BenchmarkFrame times a frame of 1,000 objects. At 50 frames/s a core has 20 ms per frame.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name   string
		states int
		spread float64
	}{{"one state", 1, 0}, {"one with a spread", 1, 0.5}, {"two states", 2, 0}, {"two with a spread", 2, 0.5}, {"three states", 3, 0}} {
		b.Run(c.name, func(b *testing.B) {
			m, tracks := New(0, 1e5), make([]Track, 1000)
			m.objects = 1000
			m.Use(lawOf(c.states, c.spread), false)
			frame := func() {
				for i := range tracks {
					m.Step(&tracks[i], states.Step{X: 0.1, Y: 0.2, DT: dt}, 0.01, 0.01)
				}
				m.End()
			}
			frame()
			b.ReportAllocs()
			for b.Loop() {
				frame()
			}
		})
	}
}
