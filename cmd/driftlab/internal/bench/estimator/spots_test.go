package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/job/recording"
	"driftscope/internal/suite"
	"driftscope/preprocess"
)

// scene draws Gaussian spots of sd 2 and the given height on an uneven, noisy ground.
func scene(width, height int, at []preprocess.Point, amplitude, noise float64, rng *rand.Rand) recording.GreyFrame {
	g := recording.GreyFrame{Pixels: make([]float32, width*height), Width: width, Height: height}
	for i := range g.Pixels {
		x, y := float64(i%width), float64(i/width)
		v := 100 + x/4 + noise*rng.NormFloat64()
		for _, p := range at {
			v += amplitude * math.Exp(-((x-p.X)*(x-p.X)+(y-p.Y)*(y-p.Y))/8)
		}
		g.Pixels[i] = float32(v)
	}
	return g
}

// Every spot is found once, bright or dark, to a tenth of a pixel where its noise is a fiftieth of its height.
func TestSpots(t *testing.T) {
	suite.Long(t)
	at := []preprocess.Point{{X: 30.3, Y: 20.7}, {X: 60.5, Y: 52.1}, {X: 20, Y: 70}, {X: 95.4, Y: 33.8}}
	for _, dark := range []bool{false, true} {
		amplitude := 50.
		if dark {
			amplitude = -50
		}
		f := spotFinder{radius: 5, dark: dark, share: 0.3}
		found, err := f.find(scene(120, 90, at, amplitude, 1, rand.New(rand.NewPCG(1, 2))))
		if err != nil || len(found) != len(at) {
			t.Fatalf("dark %v: %d spots, %v; want %d", dark, len(found), err, len(at))
		}
		for _, p := range at {
			if i := nearest(found, p, 0.15); i < 0 {
				t.Errorf("dark %v: none at %v among %v", dark, p, found)
			}
		}
	}
	if _, err := (&spotFinder{radius: 5}).find(scene(19, 90, nil, 0, 1, rand.New(rand.NewPCG(1, 2)))); err == nil {
		t.Error("a picture narrower than four radii: no error")
	}
	if found, err := (&spotFinder{radius: 5, share: 0.3}).find(scene(120, 90, []preprocess.Point{{X: 1, Y: 1}}, 50, 0, rand.New(rand.NewPCG(1, 2)))); err != nil || len(found) != 0 {
		t.Errorf("a spot at the edge: %v, %v", found, err)
	}
}

func TestLinkSpots(t *testing.T) {
	suite.Long(t)
	at := func(x float64) spot { return spot{at: preprocess.Point{X: x}} }
	for _, c := range []struct {
		name     string
		pictures [][]spot
		lengths  []int // of the tracks, in the order of their beginning
		alone    int   // of them, whole and 20 from the next
	}{
		{"two, each to its own", [][]spot{{at(0), at(30)}, {at(31), at(1)}, {at(2), at(32)}}, []int{3, 3}, 2},
		{"too far", [][]spot{{at(0)}, {at(6)}, {at(7)}}, []int{1, 2}, 0},
		{"gone and back", [][]spot{{at(0)}, {}, {at(0)}}, []int{1, 1}, 0},
		{"two that meet: the nearer goes on", [][]spot{{at(0), at(5)}, {at(4)}}, []int{1, 2}, 0},
		{"one comes later", [][]spot{{at(0)}, {at(1), at(30)}}, []int{2, 1}, 1},
		{"close neighbours", [][]spot{{at(0), at(10)}, {at(1), at(11)}}, []int{2, 2}, 0},
	} {
		tracks := linkSpots(c.pictures, 5)
		if len(tracks) != len(c.lengths) {
			t.Errorf("%s: %d tracks, want %d", c.name, len(tracks), len(c.lengths))
			continue
		}
		for i, track := range tracks {
			if len(track.spots) != c.lengths[i] {
				t.Errorf("%s: track %d goes through %d pictures, want %d", c.name, i, len(track.spots), c.lengths[i])
			}
		}
		if got := isolated(tracks, len(c.pictures), 20); len(got) != c.alone {
			t.Errorf("%s: %d stand alone, want %d", c.name, len(got), c.alone)
		}
	}
}
