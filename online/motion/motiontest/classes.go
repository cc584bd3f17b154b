package motiontest

import (
	"math"
	"math/rand/v2"
)

// Law describes the motion of a simulated object. A zero field is absent: a Law with only noise is stuck.
type Law struct {
	D         float64 // px²/s^α: the mean square displacement along an axis is 2Dt^α
	Alpha     float64 // the exponent; 0 means 1
	Stiffness float64 // 1/s, of a harmonic trap around the origin
	Speed     float64 // px/s, in a random direction
	Noise     float64 // variance of a place, px²
}

// Film describes when an object is visible.
type Film struct {
	Places   int
	Step     float64 // s between frames
	Exposure float64 // s, at most Step
	Missing  float64 // share of frames without a place
}

// Track holds the places of an object and their times.
type Track struct{ X, Y, T []float64 }

// fine is the number of simulation steps per exposed frame: the mean of ten has the blur of the integral within 1 %.
const fine = 10

// Simulate makes a track from a law. The first frame has a place.
func Simulate(rng *rand.Rand, law Law, film Film) Track {
	parts := 1
	if film.Exposure > 0 {
		parts = fine
	}
	frames := film.frames(rng)
	n := (frames[len(frames)-1] + 1) * parts
	dt := film.Step / float64(parts)
	angle := 2 * math.Pi * rng.Float64()
	x, y := law.steps(rng, n, dt)
	px := law.path(rng, x, dt, law.Speed*math.Cos(angle))
	py := law.path(rng, y, dt, law.Speed*math.Sin(angle))
	open := max(1, int(math.Round(float64(parts)*film.Exposure/film.Step)))
	sd := math.Sqrt(law.Noise)
	var track Track
	for _, f := range frames {
		track.X = append(track.X, mean(px[f*parts:f*parts+open])+sd*rng.NormFloat64())
		track.Y = append(track.Y, mean(py[f*parts:f*parts+open])+sd*rng.NormFloat64())
		track.T = append(track.T, float64(f)*film.Step)
	}
	return track
}

// frames returns the frames with a place.
func (f Film) frames(rng *rand.Rand) []int {
	frames := []int{0}
	for at := 1; len(frames) < f.Places; at++ {
		if f.Missing == 0 || rng.Float64() >= f.Missing {
			frames = append(frames, at)
		}
	}
	return frames
}

func mean(list []float64) float64 { return sum(list) / float64(len(list)) }

// steps returns the free steps along both axes.
func (l Law) steps(rng *rand.Rand, n int, dt float64) (x, y []float64) {
	alpha := l.Alpha
	if alpha == 0 {
		alpha = 1
	}
	sd := math.Sqrt(2 * l.D * math.Pow(dt, alpha))
	if alpha != 1 {
		x, y = Fractional(rng, n, alpha)
	} else {
		x, y = make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		}
	}
	for i := range x {
		x[i], y[i] = sd*x[i], sd*y[i]
	}
	return x, y
}

// path sums the steps, with the exact pull of the trap, and the velocity. In a trap it starts from the stationary law of the trap.
func (l Law) path(rng *rand.Rand, steps []float64, dt, velocity float64) []float64 {
	path := make([]float64, len(steps))
	place, keep, size := 0., 1., 1.
	if l.Stiffness > 0 {
		place = math.Sqrt(l.D/l.Stiffness) * rng.NormFloat64()
		keep = math.Exp(-l.Stiffness * dt)
		size = math.Sqrt((1 - keep*keep) / (2 * l.Stiffness * dt))
	}
	for i, s := range steps {
		path[i] = place + velocity*float64(i)*dt
		place = keep*place + size*s
	}
	return path
}
