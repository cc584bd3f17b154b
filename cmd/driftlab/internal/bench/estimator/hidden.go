package estimator

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online"
)

// partialObservation is a law whose first coordinates are the latents; the noise variance is in units of a step's variance, σ = 1.
type partialObservation struct {
	name   string
	law    func(mu, z []float64)
	dim    int
	shown  int
	noise  float64
	hidden bool // the hidden coordinates matter
}

// partialObservations are laws with too few latents, and laws with enough.
var partialObservations = []partialObservation{
	{"free, driven slowly", pushed(0.5, 4, 1), 3, 2, 0, true},
	{"free, driven slowly, r = 1", pushed(0.5, 4, 1), 3, 2, 1, true},
	{"sprung, driven fast", pushed(2, 11, 4), 3, 2, 0, true},
	{"on a spring, follows the hidden variable", pushed(2, 4, 1), 3, 2, 0, true},
	{"free, driven slowly, all variables shown", pushed(0.5, 4, 1), 3, 3, 1, false},
	{"circle", turning(3), 2, 2, 1, false},
	{"double well", twoWells, 2, 2, 0.5, false},
}

const hiddenFrames = 4000

// hiddenAfter are the frames at which reports are counted.
var hiddenAfter = []int{1000, 2000, 4000}

// pushed has two coordinates on springs of k. A third coordinate, which relaxes at rate, pushes the first.
func pushed(k, by, rate float64) func(mu, z []float64) {
	return func(mu, z []float64) { mu[0], mu[1], mu[2] = -k*z[0]+by*z[2], -k*z[1], -rate*z[2] }
}

// twoWells has wells at ±1 in either coordinate.
func twoWells(mu, z []float64) {
	for i, v := range z {
		mu[i] = 4 * v * (1 - v*v)
	}
}

// hiddenRow is how often too few latents were reported for one law.
type hiddenRow struct {
	Law    string    `json:"law"`
	Hidden bool      `json:"hidden"`
	Frames []int     `json:"frames"`
	Told   []float64 `json:"told"` // fraction of runs by each frame
}

// measureHidden fills f.Hidden.
func measureHidden(f *onlineFindings, s *simulations) error {
	told := make([]int, len(partialObservations)*s.runs)
	err := s.each(len(partialObservations), s.runs, func(cell, run int) (err error) {
		told[cell*s.runs+run], err = partialObservations[cell].told(s.random(cell, run))
		return err
	})
	for i, law := range partialObservations {
		row := hiddenRow{Law: law.name, Hidden: law.hidden, Frames: hiddenAfter, Told: make([]float64, len(hiddenAfter))}
		for _, at := range told[i*s.runs:][:s.runs] {
			for k, n := range hiddenAfter {
				if at < n {
					row.Told[k]++
				}
			}
		}
		for k := range row.Told {
			row.Told[k] /= float64(s.runs)
		}
		f.Hidden = append(f.Hidden, row)
	}
	return err
}

// told returns the frame at which too few latents are reported, or hiddenFrames if never.
func (s *partialObservation) told(rng *rand.Rand) (int, error) {
	estimator, err := online.New(online.Config{Dim: s.shown, Seed: rng.Uint64(), Deterministic: true})
	if err != nil {
		return 0, err
	}
	defer estimator.Close()
	var estimate latent.Estimate
	z, mu, dt := make([]float64, s.dim), make([]float64, s.dim), sigmaStep.Seconds()
	for k := range hiddenFrames {
		l := latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(time.Duration(k) * sigmaStep), Mean: make([]float64, s.shown)}
		for i := range l.Mean {
			l.Mean[i] = z[i] + math.Sqrt(s.noise*dt)*rng.NormFloat64()
		}
		if err := estimator.Update(&estimate, &l); err != nil {
			return 0, err
		}
		if estimate.SDE.TooFew {
			return k, nil
		}
		s.law(mu, z)
		for i := range z {
			z[i] += mu[i]*dt + math.Sqrt(dt)*rng.NormFloat64()
		}
	}
	return hiddenFrames, nil
}

// printHidden prints f.Hidden.
func printHidden(f *onlineFindings, w io.Writer) {
	fmt.Fprint(w, "Hidden: share of runs in which too few latents are reported, by frame; below the gap there is no hidden variable.\n\n")
	fmt.Fprintf(w, "%-31s", "law")
	for _, n := range hiddenAfter {
		fmt.Fprintf(w, "  %5d", n)
	}
	fmt.Fprintln(w)
	before := true
	for _, r := range f.Hidden {
		if before && !r.Hidden {
			fmt.Fprintln(w)
		}
		before = r.Hidden
		fmt.Fprintf(w, "%-31s", r.Law)
		for _, share := range r.Told {
			fmt.Fprintf(w, "  %5.2f", share)
		}
		fmt.Fprintln(w)
	}
}
