package sprites

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/internal/suite"
)

// TestIdentities: objects in random order in every frame get consistent identities, also across a break between trajectories, except in a few frames in which
// they are at one position.
func TestIdentities(t *testing.T) {
	suite.Long(t)
	const n, side = 1000, 32
	means := []float64{10, 10, 20, 10, 10, 20, 20, 20, 15, 15}
	c, truth := sdevaetest.AroundMeans(n, 7, func(_, _ float64) float64 { return 0 }, means...)
	c.Height, c.Width, c.Pixels = side, side, make([]float32, n*side*side)
	for f := n / 2; f < n; f++ {
		c.Trajectory[f] = 1
	}
	rng := rand.New(rand.NewPCG(7, 0))
	places := slices.Clone(truth)
	for f := range n {
		one := places[10*f : 10*f+10]
		rng.Shuffle(5, func(i, k int) {
			one[2*i], one[2*i+1], one[2*k], one[2*k+1] = one[2*k], one[2*k+1], one[2*i], one[2*i+1]
		})
	}
	told := New(c).AssignIdentities(c, places, make([]int, 5))
	whose := make([]map[int]int, 5) // for each column, how often it is each object
	for k := range whose {
		whose[k] = map[int]int{}
		for f := range n {
			whose[k][slices.Index(truth[10*f:10*f+10], places[10*f+2*k])/2]++
		}
	}
	sdevaetest.CheckIdentities(t, whose, 0.99)
	if told < 0.99 {
		t.Errorf("a frame identifies %.3f of the motion", told)
	}
}

// TestIdentitiesOfNothing: if positions are NaN, as after a search without result, no motion is identified.
func TestIdentitiesOfNothing(t *testing.T) {
	c, places := sdevaetest.AroundMeans(60, 7, func(_, _ float64) float64 { return 0 }, 8, 8, 16, 16)
	for i := range places {
		places[i] = math.NaN()
	}
	if told := New(c).AssignIdentities(c, places, make([]int, 2)); told >= 0 {
		t.Errorf("a frame identifies %g of the motion", told)
	}
}
