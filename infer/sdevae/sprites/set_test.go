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

// TestFind: a bar and a ring, or three objects, are located to a fifth of a pixel. In one of ten frames they overlap, and each is displaced by the other's
// light. The rendered pictures equal the frames up to the noise.
func TestFind(t *testing.T) {
	suite.Long(t)
	for name, objects := range map[string][]sdevaetest.Shape{"one": {sdevaetest.Ring}, "two": {sdevaetest.Bar, sdevaetest.Ring}, "three": {sdevaetest.Bar, sdevaetest.Ring, sdevaetest.Disc}} {
		t.Run(name, func(t *testing.T) {
			clip, truth := sdevaetest.Drifting(200, 5, objects...)
			m := Find(t.Context(), clip, clip.Frames(), len(objects), rand.New(rand.NewPCG(3, 4)))
			places, left := m.Track(clip, clip.Frames())
			if worst := slices.Max(sdevaetest.AffineError(t, places, truth)); worst > 0.2 {
				t.Errorf("positions are off by %.2g px", worst)
			}
			if share := 1 - left/clip.Energy(); share < 0.95 {
				t.Errorf("the explained share of the light is %.3f", share)
			}
			drawn := make([]float32, clip.Len()*clip.Size())
			m.Draw(drawn, places, clip.Len())
			if got := numeric.SquaredError(clip.Pixels, drawn) / float64(clip.Len()); math.Abs(got-left) > 1e-6*clip.Energy() {
				t.Errorf("rendered pictures leave %g of a frame, tracking reports %g", got, left)
			}
			for k, of := range m.SharedTemplates() {
				if of != k {
					t.Errorf("the similarity of shapes %d and %d is %.2f", k, of, m.similarity(k, of))
				}
			}
		})
	}
}

// TestUnwrapped: the coordinates of an object that leaves the picture continue there, and do not jump to the other side.
func TestUnwrapped(t *testing.T) {
	m := New(&video.Clip{Channels: 1, Height: 20, Width: 10})
	m.Templates = make([][][]complex128, 1)
	places := []float64{1, 19, 9.5, 18, 0.5, 1, 8.5, 0}
	got := slices.Clone(places)
	m.Unwrap(got)
	for i, want := range [][]float64{{1, -0.5, 0.5, -1.5}, {-1, -2, 1, 0}} {
		for k := range want {
			if v := got[2*k+i]; math.Abs(math.Remainder(v-places[2*k+i], []float64{10, 20}[i])) > 1e-9 || math.Abs((v-got[i])-(want[k]-want[0])) > 1e-9 {
				t.Errorf("coordinate %d goes %v, expected %v up to whole pictures", i, got, want)
			}
		}
	}
}
