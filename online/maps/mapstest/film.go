package mapstest

import (
	"iter"
	"math"
	"math/rand/v2"
)

// Film describes the recording of tracks.
type Film struct {
	Objects, Frames int
	Side, DT        float64 // side of the field, px; frame interval, s
	R               float64 // localisation variance divided by 2DΔt
}

// Tracks returns the noisy positions of every object in every frame. Objects start anywhere in the field and are reflected at its edge.
func (f *Film) Tracks(l *Law, seed uint64) [][][2]float64 {
	const parts = 10 // substeps per frame
	rng := rand.New(rand.NewPCG(seed, 1))
	h := f.DT / parts
	spread, noise := math.Sqrt(2*l.D*h), math.Sqrt(f.R*2*l.D*f.DT)
	turn := func(x float64) float64 {
		if x < 0 {
			return -x
		}
		if x > f.Side {
			return 2*f.Side - x
		}
		return x
	}
	var all [][][2]float64
	for range f.Objects {
		x, y := f.Side*rng.Float64(), f.Side*rng.Float64()
		var track [][2]float64
		for range f.Frames {
			track = append(track, [2]float64{x + noise*rng.NormFloat64(), y + noise*rng.NormFloat64()})
			for range parts {
				dx, dy := l.Drift(x, y)
				x, y = turn(x+dx*h+spread*rng.NormFloat64()), turn(y+dy*h+spread*rng.NormFloat64())
			}
		}
		all = append(all, track)
	}
	return all
}

// Step is one step of a track.
type Step struct {
	From, By, Before [2]float64 // start, displacement and previous displacement, px
	Later            bool       // there is a previous step
}

// Steps yields the steps of all tracks with their last frame, ordered by this frame.
func Steps(tracks [][][2]float64) iter.Seq2[int, Step] {
	return func(yield func(int, Step) bool) {
		for k := 1; len(tracks) > 0 && k < len(tracks[0]); k++ {
			for _, t := range tracks {
				s := Step{From: t[k-1], By: [2]float64{t[k][0] - t[k-1][0], t[k][1] - t[k-1][1]}, Later: k > 1}
				if s.Later {
					s.Before = [2]float64{t[k-1][0] - t[k-2][0], t[k-1][1] - t[k-2][1]}
				}
				if !yield(k, s) {
					return
				}
			}
		}
	}
}
