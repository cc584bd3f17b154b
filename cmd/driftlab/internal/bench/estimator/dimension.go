package estimator

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/cmd/driftlab/internal/paper"
	"driftscope/internal/flow/latent"
	"driftscope/online/offline"
)

// regime defines 16 latents from one to four moving ones, dz = -κz dt + σ dW every 0.01 s, and noise. Variances are in units
// of 0.01 s, the variance of a step with σ = 1.
type regime struct {
	name   string
	noise  float64 // noise variance of the moving latents
	still  float64 // noise variance of the others
	leak   float64 // fraction of the first one's motion in the others
	kappa  float64 // 1/s
	fading float64 // σ ratio of each moving latent to the previous one
	mixed  mixing
}

// mixing is the map between the axes of motion and of the latents.
type mixing int

const (
	straight mixing = iota
	rotated
	skewed // any linear map
)

// dimensionRegimes have quiet and loud noise, in moving and in still latents.
var dimensionRegimes = []regime{
	{name: "quiet", noise: 0.02, still: 0.02, fading: 1},
	{name: "collapsed: the others hardly change", noise: 0.1, still: 1e-6, fading: 1},
	{name: "noise like the motion", noise: 1, still: 1, fading: 1},
	{name: "low SNR", noise: 9, still: 9, fading: 1},
	{name: "the others loud", noise: 0.1, still: 25, fading: 1},
	{name: "spring of 4/s", noise: 0.1, still: 1, kappa: 4, fading: 1},
	{name: "spring of 4/s, low SNR", noise: 9, still: 9, kappa: 4, fading: 1},
	{name: "σ of 1, 0.6, 0.36, 0.22", noise: 0.1, still: 0.1, fading: 0.6},
	{name: "leak of 5 %", noise: 0.1, still: 0.1, leak: 0.05, fading: 1},
	{name: "rotated", noise: 0.1, still: 1, kappa: 1, fading: 1, mixed: rotated},
	{name: "rotated, noise like the motion", noise: 1, still: 1, kappa: 1, fading: 1, mixed: rotated},
	{name: "rotated, low SNR", noise: 9, still: 9, kappa: 1, fading: 1, mixed: rotated},
	{name: "mixed by any linear map", noise: 0.1, still: 1, kappa: 1, fading: 1, mixed: skewed},
}

const (
	dimensionLatents = 16
	dimensionMost    = 4
	dimensionFrames  = 1001
	bareThreshold    = 0.1 // the paper's, relative to the largest σ
)

// dimensionRow is the fraction of runs of one regime that find the moving latents exactly, over one to four moving.
type dimensionRow struct {
	Regime string    `json:"regime"`
	Exact  float64   `json:"exact"`
	By     []float64 `json:"exact_by_number"` // one, two, three and four moving
	Bare   float64   `json:"bare_threshold"`  // by the paper's rule, √(mean Δz²/Δt) > 0.1
}

// measureDimension fills f.Dimension.
func measureDimension(f *onlineFindings, s *simulations) error {
	type verdict struct{ exact, bare bool }
	cells := len(dimensionRegimes) * dimensionMost
	found := make([]verdict, cells*s.runs)
	err := s.each(cells, s.runs, func(cell, run int) error {
		r, moving := dimensionRegimes[cell/dimensionMost], 1+cell%dimensionMost
		seen := r.draw(moving, s.random(cell, run))
		exact, err := r.counts(seen, moving)
		found[cell*s.runs+run] = verdict{exact, bareCount(seen) == moving}
		return err
	})
	for i, r := range dimensionRegimes {
		row := dimensionRow{Regime: r.name, By: make([]float64, dimensionMost)}
		for k, v := range found[i*dimensionMost*s.runs:][:dimensionMost*s.runs] {
			if v.exact {
				row.By[k/s.runs]++
			}
			if v.bare {
				row.Bare++
			}
		}
		row.Exact = floats.Sum(row.By) / float64(dimensionMost*s.runs)
		row.Bare /= float64(dimensionMost * s.runs)
		for k := range row.By {
			row.By[k] /= float64(s.runs) // divided last: summing fractions would add rounding errors
		}
		f.Dimension = append(f.Dimension, row)
	}
	return err
}

// draw returns the latents; the moving ones come first, before any mixing.
func (r *regime) draw(moving int, rng *rand.Rand) []latent.Latent {
	mix, z := r.mixed.draw(rng), make([]float64, moving)
	seen, dt := make([]latent.Latent, dimensionFrames), sigmaStep.Seconds()
	for k := range seen {
		x := mat.NewVecDense(dimensionLatents, nil)
		for i := range dimensionLatents {
			if i < moving {
				sigma := math.Pow(r.fading, float64(i))
				z[i] += -r.kappa*z[i]*dt + sigma*math.Sqrt(dt)*rng.NormFloat64()
				x.SetVec(i, z[i]+math.Sqrt(r.noise*dt)*rng.NormFloat64())
			} else {
				x.SetVec(i, r.leak*z[0]+math.Sqrt(r.still*dt)*rng.NormFloat64())
			}
		}
		if mix != nil {
			x.MulVec(mix, mat.VecDenseCopyOf(x))
		}
		seen[k] = latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(time.Duration(k) * sigmaStep), Mean: x.RawVector().Data}
	}
	return seen
}

// draw returns a random map of that kind, or nil for none.
func (m mixing) draw(rng *rand.Rand) *mat.Dense {
	if m == straight {
		return nil
	}
	axes := mat.NewDense(dimensionLatents, dimensionLatents, nil)
	axes.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, axes)
	if m == rotated {
		var qr mat.QR
		qr.Factorize(axes)
		qr.QTo(axes)
	}
	return axes
}

// counts reports whether the moving part is found: the same latents, or with mixing the same number of components.
func (r *regime) counts(seen []latent.Latent, moving int) (bool, error) {
	if r.mixed != straight {
		parts, err := paper.Separate(seen, dimensionLatents, 0)
		if err != nil {
			return false, err
		}
		n := 0
		for _, moves := range parts.Moving(motion(parts)) {
			if moves {
				n++
			}
		}
		return n == moving, nil
	}
	law, err := offline.Measure(seen, offline.Config{Dim: dimensionLatents})
	if err != nil {
		return false, err
	}
	for i, a := range law.Activity {
		if (a == latent.Active) != (i < moving) {
			return false, nil
		}
	}
	return true, nil
}

// motion returns σ² of each component in the latents' units.
func motion(parts *paper.Components) []float64 {
	var v []float64
	for i, diffusion := range parts.Diffusion {
		along := parts.Along.RawRowView(i)
		v = append(v, diffusion*floats.Dot(along, along))
	}
	return v
}

// bareCount counts moving latents by the paper's rule: σ above 0.1, of the raw latents.
func bareCount(seen []latent.Latent) (n int) {
	seconds := seen[len(seen)-1].Time.Sub(seen[0].Time).Seconds()
	for i := range dimensionLatents {
		sum := 0.0
		for k := 1; k < len(seen); k++ {
			d := seen[k].Mean[i] - seen[k-1].Mean[i]
			sum += d * d
		}
		if math.Sqrt(sum/seconds) > bareThreshold {
			n++
		}
	}
	return n
}

// printDimension prints f.Dimension.
func printDimension(f *onlineFindings, w io.Writer) {
	fmt.Fprintf(w, "Dimension: share of runs in which exactly the latents that move are called active, 1 to %d of %d, after %d transitions; mixed latents are taken\n"+
		"apart first. Beside it the paper's bare threshold, σ > %g on the raw latents.\n\n", dimensionMost, dimensionLatents, dimensionFrames-1, bareThreshold)
	fmt.Fprintf(w, "%-38s %6s  %6s %6s %6s %6s  %5s\n", "regime", "exact", "1", "2", "3", "4", "bare")
	for _, r := range f.Dimension {
		fmt.Fprintf(w, "%-38s %6.3f  %6.3f %6.3f %6.3f %6.3f  %5.3f\n", r.Regime, r.Exact, r.By[0], r.By[1], r.By[2], r.By[3], r.Bare)
	}
}
