package sdevae

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/suite"
)

// overlit is a clip of a thing over a broad light that sways: more of what moves is the light's.
func overlit(n int, seed uint64, thing shaped) (c *Clip, places []float64) {
	c, places, _, lights := crossing(n, seed, thing, 0)
	for k, light := range lights {
		frame := c.Frame(k)
		for p := range frame {
			x, y := float64(p%c.Width)-12-4*math.Tanh(light), float64(p/c.Width)-12
			frame[p] = float32(min(0.6*float64(frame[p])+0.5*math.Exp(-(x*x+y*y)/(2*6*6)), 1))
		}
	}
	return c, places
}

// TestOver: over a broad light that sways, for which a search takes the light, a disc is found where it is: to 0.6 px, for two
// principal pictures do not draw all of the swaying, and half as much to spare.
func TestOver(t *testing.T) {
	suite.Long(t)
	clip, truth := overlit(200, 5, disc)
	if m := findMovers(t.Context(), clip, clip.frames(), 1, rand.New(rand.NewPCG(3, 4))); m.spread() < mostCovered {
		t.Fatalf("the search alone has a thing of %.2f of the picture: the light sways too little", m.spread())
	}
	found := findOver(t.Context(), clip, clip.frames(), rand.New(rand.NewPCG(3, 4)))
	if spread := found.movers.spread(); spread > 0.2 { // the disc has 0.09
		t.Errorf("it covers %.2f of the picture", spread)
	}
	found.movers.unwrap(found.places)
	if worst := slices.Max(off(t, found.places, mat.NewDense(clip.Len(), 2, truth))); worst > 0.9 {
		t.Errorf("places are off by %.2g px", worst)
	}
}

// TestOverNothing: a broad light that sways is no thing where nothing moves over it; a disc over it is one.
func TestOverNothing(t *testing.T) {
	for name, thing := range map[string]shaped{"a disc": disc, "nothing": func(_, _ float64) float64 { return 0 }} {
		t.Run(name, func(t *testing.T) {
			clip, _ := overlit(100, 5, thing)
			j := &job{clip: clip, moves: 1}
			j.train, j.held = split(clip.Pairs(clip.MaxGap()))
			if found := j.traceOver(t.Context(), 1); (found != nil) != (name == "a disc") {
				t.Errorf("followed: %v", found != nil)
			}
		})
	}
}
