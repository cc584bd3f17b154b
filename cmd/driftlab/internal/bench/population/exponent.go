package population

import (
	"math"
	"math/rand/v2"

	"driftscope/online/motion"
	"driftscope/online/motion/motiontest"
)

// someLengths are the track lengths for exponents; modelLength is the length for the choice of a model.
var someLengths = []int{10, 20, 50, 100, 200, 500, 1000}

const modelLength = 100

// mixture is the law of tracks of all five models, as often as the challenge has them.
const mixture = "mixture"

// exponentColumns are the columns of the table of exponent.
var exponentColumns = []column{law, figure("error", func(c *Cell) *float64 { return c.Off }), coverage, right}

// exponent is the error of α over the Anomalous Diffusion Challenge's mixture, by length, and of each model's tracks.
func exponent(b *bench) (out []Cell, err error) {
	const tracks = 20
	for _, frames := range someLengths {
		out = append(out, Cell{Study: "exponent", Of: "alpha", Law: mixture, Tracks: tracks, Frames: frames, Runs: b.runs})
	}
	for m := range motiontest.Models {
		out = append(out, Cell{Study: "exponent", Of: "alpha", Law: m.String(), Tracks: tracks, Frames: modelLength, Runs: b.runs})
	}
	out = b.small(out)
	for i := range out {
		if err := b.exponent(&out[i], 1<<19+uint64(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// exponent measures one cell.
func (b *bench) exponent(c *Cell, seed uint64) error {
	n := c.Runs * c.Tracks
	misses, holds, named := make([]float64, n), make([]bool, n), make([]bool, n)
	err := b.each(seed, c.Runs, func(run int, rng *rand.Rand) {
		var judge motion.Judge
		for k := run * c.Tracks; k < (run+1)*c.Tracks; k++ {
			model, alpha, places := challenge(rng, c)
			v, _ := judge.Track(places, motion.Options{}) // noise moves every place
			best := 0
			for m, p := range v.Models {
				if p > v.Models[best] {
					best = m
				}
			}
			misses[k], holds[k], named[k] = math.Abs(v.Alpha.Value-alpha), v.Alpha.Low <= alpha && alpha <= v.Alpha.High, best == int(model)
		}
	})
	sum := 0.0
	for _, miss := range misses {
		sum += miss
	}
	c.Off, c.Coverage, c.Right = new(sum/float64(n)), share(holds), share(named)
	return err
}

// challenge is a track of the challenge's, of the cell's law.
func challenge(rng *rand.Rand, c *Cell) (motiontest.Model, float64, []motion.Place) {
	model, alpha := motiontest.Draw(rng)
	for c.Law != mixture && model.String() != c.Law {
		model, alpha = motiontest.Draw(rng)
	}
	x, y := motiontest.Path(rng, model, alpha)
	motiontest.Localise(rng, motiontest.Noises[rng.IntN(len(motiontest.Noises))], x, y)
	places := make([]motion.Place, c.Frames)
	for i := range places {
		places[i] = motion.Place{X: x[i], Y: y[i], T: float64(i)}
	}
	return model, alpha, places
}
