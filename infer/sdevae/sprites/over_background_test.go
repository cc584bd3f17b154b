package sprites

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/internal/suite"
)

// TestFindOverBackground: over a broad light that sways, for which a search takes the light, a disc is found where it is: to 0.6 px, for two
// principal pictures do not draw all of the swaying, and half as much to spare.
func TestFindOverBackground(t *testing.T) {
	suite.Long(t)
	clip, truth := sdevaetest.Overlit(200, 5, sdevaetest.Disc)
	if m := Find(t.Context(), clip, clip.Frames(), 1, rand.New(rand.NewPCG(3, 4))); m.Area() < numeric.Majority {
		t.Fatalf("the search alone has an object of %.2f of the picture: the light sways too little", m.Area())
	}
	m, places := FindOverBackground(t.Context(), clip, clip.Frames(), rand.New(rand.NewPCG(3, 4)))
	if spread := m.Area(); spread > 0.2 { // the disc has 0.09
		t.Errorf("it covers %.2f of the picture", spread)
	}
	m.Unwrap(places)
	if worst := slices.Max(sdevaetest.AffineError(t, places, mat.NewDense(clip.Len(), 2, truth))); worst > 0.9 {
		t.Errorf("places are off by %.2g px", worst)
	}
}
