package locate_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"driftscope/infer/locate"
	"driftscope/online/tracks"
)

// This example locates and follows objects in its own loop: four diffusing spots in noisy pictures of 96x96 pixels.
func Example() {
	const side, frames = 96, 30
	rng := rand.New(rand.NewPCG(1, 2))
	at := [][2]float64{{24, 24}, {70, 26}, {26, 72}, {68, 70}}
	picture := make([]float32, side*side)
	draw := func() {
		for i := range picture {
			light := 100 + 5*rng.NormFloat64()
			for _, p := range at {
				dx, dy := float64(i%side)-p[0], float64(i/side)-p[1]
				light += 200 * math.Exp(-(dx*dx+dy*dy)/(2*1.5*1.5))
			}
			picture[i] = float32(light)
		}
		for k := range at {
			at[k][0], at[k][1] = at[k][0]+0.3*rng.NormFloat64(), at[k][1]+0.3*rng.NormFloat64()
		}
	}
	draw()
	sd := locate.Width(side, side, picture, 1, false)
	locator, err := locate.New(side, side, locate.Options{SD: sd})
	if err != nil {
		log.Fatal(err)
	}
	tracker, err := tracks.New(tracks.Options{Width: side, Height: side, Template: sd})
	if err != nil {
		log.Fatal(err)
	}
	var spots []locate.Spot
	var points []tracks.Point
	for frame := range uint64(frames) {
		spots = locator.Locate(spots[:0], picture)
		var seen []tracks.Detection
		for _, s := range spots {
			seen = append(seen, tracks.Detection{X: s.X, Y: s.Y, VarX: s.VarX, VarY: s.VarY, Score: s.Score})
		}
		points = tracker.Update(frame, seen)
		draw()
	}
	for _, p := range points {
		if p.Confirmed {
			fmt.Printf("object %d, seen in the last frame: %v\n", p.ID, p.Detection >= 0)
		}
	}
	// Output:
	// object 1, seen in the last frame: true
	// object 2, seen in the last frame: true
	// object 3, seen in the last frame: true
	// object 4, seen in the last frame: true
}
