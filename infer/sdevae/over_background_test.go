package sdevae

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/suite"
)

// TestOver: over a broad light that sways, for which a search takes the light, a disc is found where it is: to 0.6 px, for two
// principal pictures do not draw all of the swaying, and half as much to spare.
func TestOver(t *testing.T) {
	suite.Long(t)
	clip, truth := overlit(200, 5, disc)
	if m := findMovers(t.Context(), clip, clip.frames(), 1, rand.New(rand.NewPCG(3, 4))); m.spread() < mostCovered {
		t.Fatalf("the search alone has a thing of %.2f of the picture: the light sways too little", m.spread())
	}
	m, places := findOver(t.Context(), clip, clip.frames(), rand.New(rand.NewPCG(3, 4)))
	if spread := m.spread(); spread > 0.2 { // the disc has 0.09
		t.Errorf("it covers %.2f of the picture", spread)
	}
	m.unwrap(places)
	if worst := slices.Max(off(t, places, mat.NewDense(clip.Len(), 2, truth))); worst > 0.9 {
		t.Errorf("places are off by %.2g px", worst)
	}
}
