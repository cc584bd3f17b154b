package law

import (
	"math"

	"driftscope/online/states"
)

// Velocity is the motion that all objects share, with its standard error per axis.
type Velocity struct {
	X  float64 `json:"x"`
	Y  float64 `json:"y"`
	SD float64 `json:"sd"`
}

// fewest is the least number of tracks for a common motion.
const fewest = 3

// still subtracts the common motion of the tracks from their steps, and returns it: the mean velocity, shrunk towards zero according to its error. The
// differences between tracks give the error (James and Stein, positive part).
func still(tracks []states.Segment) (v Velocity) {
	if len(tracks) < fewest {
		return v
	}
	var seconds float64
	moved := make([][3]float64, len(tracks)) // x, y, s
	for i := range tracks {
		for _, s := range tracks[i].Steps {
			moved[i][0], moved[i][1], moved[i][2] = moved[i][0]+s.X, moved[i][1]+s.Y, moved[i][2]+s.DT
		}
		v.X, v.Y, seconds = v.X+moved[i][0], v.Y+moved[i][1], seconds+moved[i][2]
	}
	v.X, v.Y = v.X/seconds, v.Y/seconds
	squares := 0.0
	for _, m := range moved {
		x, y := m[0]-v.X*m[2], m[1]-v.Y*m[2]
		squares += x*x + y*y
	}
	n := float64(len(tracks))
	v.SD = math.Sqrt(squares/2*n/(n-1)) / seconds
	keep := 0.0
	if square := (v.X*v.X + v.Y*v.Y) / 2; square > 0 {
		keep = max(1-v.SD*v.SD/square, 0)
	}
	if v.X, v.Y = keep*v.X, keep*v.Y; keep == 0 {
		v.X, v.Y = 0, 0 // never -0
		return v
	}
	for i := range tracks {
		for k := range tracks[i].Steps {
			s := &tracks[i].Steps[k]
			s.X, s.Y = s.X-v.X*s.DT, s.Y-v.Y*s.DT
		}
	}
	return v
}
