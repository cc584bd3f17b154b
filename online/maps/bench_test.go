package maps

import (
	"testing"

	"driftscope/online/maps/mapstest"
)

// BenchmarkLaw evaluates the map of 10,000 steps of each law, which is the work outside the frame path.
func BenchmarkLaw(b *testing.B) {
	for _, l := range mapstest.Scenes() {
		f := filmed(0.3)
		m := mapped(f, f.Tracks(&l, 1), 0)
		b.Run(l.Name, func(b *testing.B) {
			for b.Loop() {
				m.Law(nil)
			}
		})
	}
}
