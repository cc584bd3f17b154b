package sprites

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestFind: a bar and a ring, or three objects, are found where they are, to a fifth of a pixel: they overlap in one frame of ten, where
// one is off by the other's light. What is drawn of them is the pictures but for the noise.
func TestFind(t *testing.T) {
	suite.Long(t)
	for name, objects := range map[string][]sdevaetest.Shape{"one": {sdevaetest.Ring}, "two": {sdevaetest.Bar, sdevaetest.Ring}, "three": {sdevaetest.Bar, sdevaetest.Ring, sdevaetest.Disc}} {
		t.Run(name, func(t *testing.T) {
			clip, truth := sdevaetest.Drifting(200, 5, objects...)
			m := Find(t.Context(), clip, clip.Frames(), len(objects), rand.New(rand.NewPCG(3, 4)))
			places, left := m.Track(clip, clip.Frames())
			if worst := slices.Max(sdevaetest.AffineError(t, places, truth)); worst > 0.2 {
				t.Errorf("places are off by %.2g px", worst)
			}
			if share := 1 - left/clip.Energy(); share < 0.95 {
				t.Errorf("%.3f of the light is explained", share)
			}
			drawn := make([]float32, clip.Len()*clip.Size())
			m.Draw(drawn, places, clip.Len())
			if got := numeric.SquaredError(clip.Pixels, drawn) / float64(clip.Len()); math.Abs(got-left) > 1e-6*clip.Energy() {
				t.Errorf("drawings leave %g of a frame, tracking says %g", got, left)
			}
			for k, of := range m.SharedTemplates() {
				if of != k {
					t.Errorf("shape %d is alike shape %d by %.2f", k, of, m.similarity(k, of))
				}
			}
		})
	}
}

// TestUnwrapped: what leaves the picture a little goes on there, and does not come in on the other side.
func TestUnwrapped(t *testing.T) {
	m := New(&video.Clip{Channels: 1, Height: 20, Width: 10})
	m.Templates = make([][][]complex128, 1)
	places := []float64{1, 19, 9.5, 18, 0.5, 1, 8.5, 0}
	got := slices.Clone(places)
	m.Unwrap(got)
	for i, want := range [][]float64{{1, -0.5, 0.5, -1.5}, {-1, -2, 1, 0}} {
		for k := range want {
			if v := got[2*k+i]; math.Abs(math.Remainder(v-places[2*k+i], []float64{10, 20}[i])) > 1e-9 || math.Abs((v-got[i])-(want[k]-want[0])) > 1e-9 {
				t.Errorf("coordinate %d goes %v, expected %v but for whole pictures", i, got, want)
			}
		}
	}
}
