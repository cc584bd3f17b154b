package population_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"driftscope/online/population"
)

// Law estimates the diffusion coefficient of one track with its 95 % interval, from 500 frames of 20 ms with positions known to 0.1 px. The true value is 2
// px²/s.
func ExampleLaw() {
	const d, dt, noise = 2, 0.02, 0.1
	rng := rand.New(rand.NewPCG(1, 1))
	var track population.Law
	var still population.Common // no common motion
	x, y := 0.0, 0.0
	for frame := range 500 {
		track.Add(population.Place{X: x + noise*rng.NormFloat64(), Y: y + noise*rng.NormFloat64(), T: dt * float64(frame), Weight: 1}, &still)
		x, y = x+math.Sqrt(2*d*dt)*rng.NormFloat64(), y+math.Sqrt(2*d*dt)*rng.NormFloat64()
	}
	found := track.Diffusion(0, false) // instantaneous exposure
	fmt.Printf("%d steps\n", track.Steps())
	fmt.Println("2 px²/s is within the interval:", found.Low < d && d < found.High)
	fmt.Printf("half of the interval is %.0f %% of D\n", 50*(found.High-found.Low)/found.D)
	// Output:
	// 499 steps
	// 2 px²/s is within the interval: true
	// half of the interval is 17 % of D
}
