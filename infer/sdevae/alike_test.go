package sdevae

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// atHome is n frames of 24×24 with things of one shape, each kept near a place of its own (x, y after each other), so near to the others'
// that they meet, with where they are: frames × 2 a thing. Where they lie over each other the picture is as bright as can be.
func atHome(n int, seed uint64, thing shaped, homes ...float64) (clip *Clip, truth []float64) {
	const pull, step = 0.1, 0.8
	clip, _ = drifting(n, seed, func(_, _ float64) float64 { return 0 }) // the ground alone
	rng := rand.New(rand.NewPCG(seed, 1))
	at := slices.Clone(homes)
	for k := range n {
		picture := clip.Frame(k)
		for p := range picture {
			for i := 0; i < len(at); i += 2 {
				picture[p] += float32(thing(float64(p%clip.Width)-at[i], float64(p/clip.Width)-at[i+1]))
			}
			picture[p] = min(picture[p], 1)
		}
		truth = append(truth, at...)
		for i := range at {
			at[i] += pull*(homes[i]-at[i]) + step*rng.NormFloat64()
		}
	}
	return clip, truth
}

// bright is a disc that is as bright as can be.
func bright(dx, dy float64) float64 { return 2 * disc(dx, dy) }

// TestFollowAlike: three discs that look the same, and that one frame in many does not tell apart, are found, in nine frames of ten to a
// third of a pixel, and each is followed all along.
func TestFollowAlike(t *testing.T) {
	clip, truth := atHome(400, 5, bright, 7, 8, 17, 9, 11, 17)
	j, err := newJob(context.Background(), Training{}, clip, Config{Latent: 6, Tau: TauOf(clip), Steps: 4})
	if err != nil {
		t.Fatal(err)
	}
	if j.trail == nil {
		t.Fatal("not followed")
	}
	var misses []float64
	for f := range clip.Len() {
		misses = append(misses, apart(j.trail.places[6*f:6*f+6], truth[6*f:6*f+6]))
	}
	if sorted := slices.Sorted(slices.Values(misses)); sorted[len(sorted)*9/10] > 0.33 {
		t.Errorf("one frame in ten is off by %.2f px and more", sorted[len(sorted)*9/10])
	}
}

// apart is the most by which a thing is off, of things that are nearer to where they are than to the others.
func apart(places, truth []float64) (most float64) {
	for i := 0; i < len(places); i += 2 {
		least := math.Inf(1)
		for k := 0; k < len(truth); k += 2 {
			least = min(least, math.Hypot(math.Remainder(places[i]-truth[k], 24), math.Remainder(places[i+1]-truth[k+1], 24)))
		}
		most = max(most, least)
	}
	return most
}

// TestTellApart: things that are at random places of every frame's list are each put together again, through a break between trajectories,
// but for a few frames in which they are at one place.
func TestTellApart(t *testing.T) {
	const n, side = 1000, 32
	homes := []float64{10, 10, 20, 10, 10, 20, 20, 20, 15, 15}
	c, truth := atHome(n, 7, func(_, _ float64) float64 { return 0 }, homes...)
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
	told := newMovers(c).tellApart(c, places, make([]int, 5))
	whose := make([]map[int]int, 5) // of each column, how often it is which thing
	for k := range whose {
		whose[k] = map[int]int{}
		for f := range n {
			whose[k][slices.Index(truth[10*f:10*f+10], places[10*f+2*k])/2]++
		}
	}
	for k, of := range whose {
		if most := slices.Max(slices.Collect(maps.Values(of))); most < 0.99*n {
			t.Errorf("column %d is %v", k, of)
		}
	}
	if told < 0.99 {
		t.Errorf("a frame tells %.3f of what moves", told)
	}
}
