package estimator

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat"

	"driftscope/internal/flow/latent"
	"driftscope/online/offline"
)

// sigmaRow is one cell of the table of the diffusion: dz = dW with noise of variance R = r·0.01 s every 0.01 s.
type sigmaRow struct {
	R        float64 `json:"r"`
	N        int     `json:"n"`              // transitions
	Dropped  float64 `json:"dropped"`        // fraction of frames lost at random
	Coverage float64 `json:"coverage"`       // of the 95 % interval of σ
	Error    float64 `json:"relative_error"` // of σ²: standard deviation over mean
	Bound    float64 `json:"bound"`          // smallest relative error, from the information about σ² and R in the increments
	Mean     float64 `json:"mean"`           // mean of σ²; the truth is 1
	Naive    float64 `json:"naive_mean"`     // mean of the quadratic variation
}

const (
	sigmaStep  = 10 * time.Millisecond
	sigmaBatch = 10 // simulations with common frame times, as dimensions of one latent
)

// sigmaCells lists the cells, loss rates outermost.
func sigmaCells() (cells []sigmaRow) {
	for _, dropped := range []float64{0, 0.1, 0.5} {
		for _, n := range []int{100, 300, 1000, 3000, 10000} {
			for _, r := range []float64{0, 0.02, 0.1, 1, 4, 9} {
				cells = append(cells, sigmaRow{R: r, N: n, Dropped: dropped})
			}
		}
	}
	return cells
}

// measureSigma fills f.Sigma.
func measureSigma(f *onlineFindings, s *simulations) error {
	f.Sigma = sigmaCells()
	batches := (s.runs + sigmaBatch - 1) / sigmaBatch
	found := make([][]sigmaRun, len(f.Sigma))
	for i := range found {
		found[i] = make([]sigmaRun, s.runs)
	}
	err := s.each(len(f.Sigma), batches, func(cell, batch int) error {
		from := batch * sigmaBatch
		return f.Sigma[cell].simulate(found[cell][from:min(from+sigmaBatch, s.runs)], s.random(cell, batch))
	})
	if err != nil {
		return err
	}
	return s.each(len(f.Sigma), 1, func(cell, _ int) error {
		f.Sigma[cell].sum(found[cell])
		f.Sigma[cell].bound(s.random(cell, batches))
		return nil
	})
}

// sigmaRun is the result of one simulation.
type sigmaRun struct {
	v, naive float64 // σ²; the quadratic variation
	covered  bool    // the interval holds σ = 1
}

// simulate fills dst with simulations.
func (r *sigmaRow) simulate(dst []sigmaRun, rng *rand.Rand) error {
	d, noise := len(dst), math.Sqrt(r.R*sigmaStep.Seconds())
	seen, z := make([]latent.Latent, r.N+1), make([]float64, d)
	flat := make([]float64, len(seen)*d)
	at := time.Unix(0, 0)
	for k := range seen {
		dt := sigmaStep * time.Duration(frames(r.Dropped, rng))
		at = at.Add(dt)
		root, m := math.Sqrt(dt.Seconds()), flat[k*d:][:d]
		for i := range z {
			z[i] += root * rng.NormFloat64()
			m[i] = z[i] + noise*rng.NormFloat64()
			if k > 0 {
				dst[i].naive += (m[i] - seen[k-1].Mean[i]) * (m[i] - seen[k-1].Mean[i])
			}
		}
		seen[k] = latent.Latent{Seq: uint64(k), Time: at, Mean: m}
	}
	law, err := offline.Measure(seen, offline.Config{Dim: d, Refresh: math.MaxUint64})
	if err != nil {
		return err
	}
	for i := range dst {
		dst[i].v = law.Sigma[i] * law.Sigma[i]
		dst[i].naive /= law.Seconds
		dst[i].covered = law.SigmaLow[i] <= 1 && 1 <= law.SigmaHigh[i]
	}
	return nil
}

// frames returns the number of frames up to the next one that is not lost.
func frames(dropped float64, rng *rand.Rand) int {
	n := 1
	for dropped > 0 && rng.Float64() < dropped {
		n++
	}
	return n
}

// sum summarises the runs.
func (r *sigmaRow) sum(runs []sigmaRun) {
	v := make([]float64, len(runs))
	for i, run := range runs {
		v[i] = run.v
		r.Naive += run.naive / float64(len(runs))
		if run.covered {
			r.Coverage++
		}
	}
	r.Coverage /= float64(len(runs))
	mean, sd := stat.MeanStdDev(v, nil)
	r.Mean, r.Error = mean, sd/mean
}

// bound computes the relative error of an efficient estimator of σ² = v with unknown R: the root of the inverse of the
// information in the increments. For equal steps the information is Whittle's integral over their spectrum vΔt + 2R(1 - cos
// ω). With lost frames it is averaged over draws of the steps.
func (r *sigmaRow) bound(rng *rand.Rand) {
	draws := 1
	if r.Dropped > 0 {
		draws = max(1, 3000/r.N)
	}
	var all information
	for range draws {
		all.add(r.N, r.R*sigmaStep.Seconds(), func() float64 { return sigmaStep.Seconds() * float64(frames(r.Dropped, rng)) })
	}
	r.Bound = math.Sqrt(float64(draws) * all.rr / (all.vv*all.rr - all.vr*all.vr))
}

// information is the Fisher information of increments about v and R.
type information struct{ vv, vr, rr float64 }

// add adds the information of n increments at v = 1. Their covariance C, with vΔt + 2R on the diagonal and -R beside it, is
// linear in v and R. So the information ½ tr(C⁻¹CᵢC⁻¹Cⱼ) is -½ ∂ᵢ∂ⱼ ln det C, and
//
//	ln det C = Σ ln δ,  δ ← vΔt + 2R - R²/δ.
func (i *information) add(n int, noise float64, step func() float64) {
	q := noise * noise
	var x, v, r, vv, vr, rr float64 // δ and its derivatives
	for k := range n {
		dt := step()
		if k == 0 {
			x, v, r = dt+2*noise, dt, 2
		} else {
			x2, x3 := x*x, x*x*x
			vv = q*vv/x2 - 2*q*v*v/x3
			vr = 2*noise*v/x2 + q*vr/x2 - 2*q*v*r/x3
			rr = -2/x + 4*noise*r/x2 + q*rr/x2 - 2*q*r*r/x3
			v, r, x = dt+q*v/x2, 2-2*noise/x+q*r/x2, dt+2*noise-q/x
		}
		i.vv += (v*v/x - vv) / x / 2
		i.vr += (v*r/x - vr) / x / 2
		i.rr += (r*r/x - rr) / x / 2
	}
}

// printSigma prints f.Sigma: one line per number of transitions and fraction of lost frames.
func printSigma(f *onlineFindings, w io.Writer) {
	fmt.Fprintln(w, "σ: dz = dW, frames every 0.01 s, noise of variance R = r·0.01 s. Share of runs whose 95 % interval holds σ; relative error of σ², in\n"+
		"brackets over the least possible where R is unknown too (the information of the increments about both); mean of the quadratic variation.")
	for i, row := range f.Sigma {
		if i == 0 || row.Dropped != f.Sigma[i-1].Dropped {
			fmt.Fprintf(w, "\n%g %% of the frames lost\n%7s %5s  %8s  %14s  %8s  %9s\n", 100*row.Dropped, "N", "r", "coverage", "relative error", "mean σ²", "quadratic")
		}
		fmt.Fprintf(w, "%7d %5g  %8.3f  %6.3f (%5.3f)  %8.3f  %9.2f\n", row.N, row.R, row.Coverage, row.Error, row.Error/row.Bound, row.Mean, row.Naive)
	}
}
