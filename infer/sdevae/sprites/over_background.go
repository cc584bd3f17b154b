package sprites

import (
	"context"
	"math/rand/v2"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// A picture that changes as a whole may have more energy than the object in front of it. A search then finds the picture instead of the object. But an object
// visits many positions, while a changing picture is a mixture of few pictures, so its first principal pictures contain most of it.

// overRounds is the number of rounds. The first takes the principal pictures of the frames, the second of the frames without the sprite.
const overRounds = 2

// FindOverBackground locates one sprite in all frames and returns x and y for each. It learns the template from the given frames minus their principal
// pictures. It returns nil if there are no principal pictures.
func FindOverBackground(ctx context.Context, c *video.Clip, frames []int, rng *rand.Rand) (m *Set, places []float64) {
	some, bare := numeric.Spread(frames, searchFrames), c
	for range overRounds {
		rest := c.WithoutPrincipal(bare, some)
		if rest == nil {
			return nil, nil
		}
		m = Find(ctx, rest, frames, 1, rng)
		places, _ = m.Track(rest, rest.Frames())
		bare = m.Remove(c, places)
		if ctx.Err() != nil {
			return nil, nil
		}
	}
	m.Background = m.Spectra(bare.Median(some))
	return m, places
}

// MeanResidual returns the mean residual energy of the given frames for a single sprite; places covers all frames.
func (m *Set) MeanResidual(c *video.Clip, frames []int, places []float64) float64 {
	var at []float64
	for _, f := range frames {
		at = append(at, places[2*f:2*f+2]...)
	}
	drawn := make([]float32, len(frames)*c.Size())
	m.Draw(drawn, at, len(frames))
	return numeric.SquaredError(c.Pick(frames), drawn) / float64(len(frames))
}
