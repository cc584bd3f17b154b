package verdict

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
)

// Latent holds the findings on one latent.
type Latent struct {
	Still bool    // it varies far less than the encoder's uncertainty, so it has no content
	R     float64 // noise of one frame relative to the step between frames, R/(σ²Δt), from the covariance-based estimate; negative if steps persist, infinite without motion
	Noise Share   // R over the latent's variance; motion without memory from one frame to the next counts as noise
	Moves Share   // σ²Δt over the mean squared step
}

// latents judges each latent. A latent that varies far less than the encoder's uncertainty has no content. A latent that is mostly noise, or does not move, is
// doubtful.
func (c *Case) latents() (Finding, []Latent) {
	var all []Latent
	var still, noisy []string
	worst := 0.0
	for i := range c.Dim {
		l := c.latent(i)
		all = append(all, l)
		switch name := fmt.Sprintf("z%d", i+1); {
		case l.Still && i < c.Dim-c.Padding:
			still = append(still, name)
		case l.Still:
		case l.noisy():
			noisy = append(noisy, fmt.Sprintf("%s (%s of its variance, r = %.2g)", name, percent(l.Noise.Value, l.Noise.Error), l.R))
		default:
			worst = max(worst, l.R)
		}
	}
	live := c.Dim - c.Padding
	fewer := "it may be one too many, try fewer latents"
	switch {
	case len(still) == live:
		return Finding{Bad, "all latents vary far less than their uncertainty", c.try("crop closer to the moving object, give a longer clip or another seed", "follow the objects without a model, or give a longer film")}, all
	case len(still) > 0:
		return Finding{Doubt, strings.Join(still, ", ") + " of the latents does not vary with the pictures", fewer}, all
	case len(noisy) > 0:
		if len(noisy) == live {
			fewer = c.try("leave --keep-light out, crop closer to the moving object", "follow the objects without a model")
		}
		return Finding{Doubt, "noise, or memory shorter than a frame, dominates " + strings.Join(noisy, ", "), fewer + ", or record faster"}, all
	}
	return Finding{Level: Good, Reason: fmt.Sprintf("every latent exceeds its noise: r is at most %.2g", worst)}, all
}

// noisy reports whether a latent is mostly noise, or its motion cannot be separated from noise.
func (l *Latent) noisy() bool { return l.Noise.Value > numeric.Majority || !(l.Moves.Low > 0) }

// latent measures latent i from its steps D and their next steps D₊ (Vestergaard, Blainey and Flyvbjerg 2014):
//
//	R = -mean DD₊,  σ²Δt = mean D² + 2 mean DD₊
func (c *Case) latent(i int) Latent {
	z, sd, pairs := c.axis(c.Z, i), c.axis(c.SD, i), c.all()
	mean, variance := stat.MeanVariance(z, nil)
	unsure := 0.0
	for _, s := range sd {
		unsure += s * s / float64(len(sd))
	}
	var lagged, steps, motion, spread []float64
	var at []int
	for k, p := range pairs[1:] {
		if f := p.First; pairs[k].First == f-1 {
			now, next := z[f]-z[f-1], z[f+1]-z[f]
			both := (now*now + next*next) / 2
			lagged, steps, motion = append(lagged, -now*next), append(steps, both), append(motion, both+2*now*next)
			spread, at = append(spread, square(z[f]-mean)), append(at, f)
		}
	}
	block := blocksOf(at, true)
	// At low SNR one frame may resolve a position poorly. The ratio of a latent's variance to the encoder's variance was 1e-16 for a padding latent, and 158
	// and 306 for the latents of a ring's position.
	l := Latent{Still: !(variance > numeric.LeastLayer*unsure), Noise: shareOf(lagged, spread, block), Moves: shareOf(motion, steps, block)}
	if l.R = math.Inf(1); l.Moves.Value > 0 {
		l.R = (1/l.Moves.Value - 1) / 2
	}
	return l
}
