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

// TestFindOverBackground: a disc over a broad swaying light, which a plain search would find instead, is located to 0.6 px. The limit has a margin of a half,
// because two principal pictures do not explain all of the swaying.
func TestFindOverBackground(t *testing.T) {
	suite.Long(t)
	clip, truth := sdevaetest.Overlit(200, 5, sdevaetest.Disc)
	if m := Find(t.Context(), clip, clip.Frames(), 1, rand.New(rand.NewPCG(3, 4))); m.Area() < numeric.Majority {
		t.Fatalf("the plain search finds an object that covers %.2f of the picture: the light sways too little", m.Area())
	}
	m, places := FindOverBackground(t.Context(), clip, clip.Frames(), rand.New(rand.NewPCG(3, 4)))
	if spread := m.Area(); spread > 0.2 { // the disc covers 0.09
		t.Errorf("it covers %.2f of the picture", spread)
	}
	m.Unwrap(places)
	if worst := slices.Max(sdevaetest.AffineError(t, places, mat.NewDense(clip.Len(), 2, truth))); worst > 0.9 {
		t.Errorf("positions are off by %.2g px", worst)
	}
}
