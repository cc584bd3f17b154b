// Components
//
// If latents are mixtures of coordinates, all of them seem to move, so Separate unmixes them first. x are the latents minus the mean of their trajectory. C is
// their covariance, and C₂ their symmetrised covariance at a lag of two frames. The components are y = xw,
//
//	C₂w = λCw,  w'Cw = 1
//
// in descending order of λ, the autocorrelation at a lag of two frames, which is 0 for noise. A component moves if its bank of estimators, which has no drift,
// finds
//
//	2 Δln-likelihood > 16  and  vᵢ|aᵢ|² > 0.01 × the largest,  x = Σ yᵢaᵢ
//
// With a decoder f, vᵢ mean|∂f/∂yᵢ|² replaces vᵢ|aᵢ|², because padding latents have no scale of their own, but pictures have. The axes were chosen for their
// memory, so the threshold is 16 instead of the 9.5 of online/diffusion. On simulated latents (2 of 16 moving, 300 to 400 transitions in one film or four), the
// number was right in 1795 of 1800 draws and too large in 5. Of 600 draws of pure noise, 8 had a moving component. Separate undoes only linear mixing: a latent
// that is a nonlinear function of the coordinates also moves, and counts as one more component.

package paper

import (
	"errors"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/numbers"
	"driftscope/online/diffusion"
)

// Thresholds for a moving component. Along axes chosen for their memory, chance looks like motion more often than along given axes.
const (
	componentRatio = 16    // likelihood ratio of motion to no motion
	componentLag   = 2     // lag at which memory is measured, frames; noise has no memory, and motion blur reaches only the next frame
	leastVariance  = 1e-10 // fraction of the largest variance along any axis; below it, an axis changes only by rounding
)

// Components holds latents separated along the axes of longest memory (time-lagged independent component analysis, Molgedey and Schuster 1994). The separation
// undoes any linear mixing of moving and resting coordinates. There are k components, at most one per latent, sorted by memory, longest first. A component's
// unit is its standard deviation within trajectories.
type Components struct {
	Path      *mat.Dense // n × k: the components, with mean 0 within each trajectory
	Along     *mat.Dense // k × d: change of the latents per unit of a component
	Memory    []float64  // autocorrelation of each component at a lag of two frames
	Diffusion []float64  // σ² of each component without noise, units²/s
	Ratio     []float64  // likelihood ratio of σ² > 0 to σ² = 0: 2 Δ ln likelihood
}

// Separate splits a recording's latents of dim coordinates into components. It uses no differences between trajectories or across gaps longer than maxGap (0:
// no limit), and ignores the mean of a trajectory. For a component with a memory of κ⁻¹ seconds, σ² is too small by about κΔt or, with noise, several times
// this value, because the bank has no drift.
//
// It returns diffusion.ErrLatent or ErrTimeOrder, with the frame, for a latent that an estimator would refuse. It also returns an error if no trajectory has
// three latents, or if no latent changes.
func Separate(latents []latent.Latent, dim int, maxGap time.Duration) (*Components, error) {
	runs, err := readRuns(latents, dim, maxGap)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(runs, func(r run) bool { return len(r.dt) >= componentLag }) {
		return nil, errors.New("online: no trajectory has three latents: give a longer recording")
	}
	x := centred(latents, runs, dim)
	along, onto, remembered, err := lagged(memory(x, runs))
	if err != nil {
		return nil, err
	}
	s := &Components{Path: new(mat.Dense), Along: along, Memory: remembered}
	s.Path.Mul(x, onto)
	s.diffuse(runs)
	return s, nil
}

// run is a range [from, to) of latents without a cut, with the time of each step in s.
type run struct {
	from, to int
	dt       []float64
}

// readRuns lists the runs of more than one latent.
func readRuns(latents []latent.Latent, dim int, maxGap time.Duration) (runs []run, err error) {
	clock := diffusion.Clock{MaxGap: maxGap}
	for k := range latents {
		if err := diffusion.Check(&latents[k], dim); err != nil {
			return nil, err
		}
		dt, err := clock.Advance(&latents[k])
		switch last := len(runs) - 1; {
		case err != nil:
			return nil, err
		case dt == 0:
		case last >= 0 && runs[last].to == k:
			runs[last].to, runs[last].dt = k+1, append(runs[last].dt, dt)
		default:
			runs = append(runs, run{k - 1, k + 1, []float64{dt}})
		}
	}
	return runs, nil
}

// Moving reports which components move: 2 Δ ln likelihood > 16, and more than a hundredth of the largest motion. motion is σ² of each
// component in comparable units.
func (s *Components) Moving(motion []float64) []bool {
	moving, largest := make([]bool, len(motion)), 0.0
	for i, ratio := range s.Ratio {
		if moving[i] = ratio > componentRatio; moving[i] {
			largest = max(largest, motion[i])
		}
	}
	for i, v := range motion {
		moving[i] = moving[i] && v > diffusion.ActiveShare*largest
	}
	return moving
}

// centred returns the latents of the runs minus the mean of each run. Rows outside the runs are 0. A latent that never changes becomes exactly 0.
func centred(latents []latent.Latent, runs []run, d int) *mat.Dense {
	x := mat.NewDense(len(latents), d, nil)
	for _, run := range runs {
		first, mean := latents[run.from].Mean, make([]float64, d)
		for k := run.from; k < run.to; k++ {
			for i, v := range latents[k].Mean {
				x.Set(k, i, v-first[i])
				mean[i] += (v - first[i]) / float64(run.to-run.from)
			}
		}
		for k := run.from; k < run.to; k++ {
			floats.Sub(x.RawRowView(k), mean)
		}
	}
	return x
}

// memory returns the covariance of x and its symmetrised lagged covariance, at a lag of componentLag rows within a run.
func memory(x *mat.Dense, runs []run) (now, later *mat.SymDense) {
	_, d := x.Dims()
	n, pairs := 0, 0
	same, lagged := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	for _, run := range runs {
		for k := run.from; k < run.to; k++ {
			n++
			same.RankOne(same, 1, x.RowView(k), x.RowView(k))
			if k+componentLag < run.to {
				pairs++
				lagged.RankOne(lagged, 1, x.RowView(k), x.RowView(k+componentLag))
			}
		}
	}
	same.Scale(1/float64(n), same)
	lagged.Scale(1/float64(pairs), lagged)
	return numbers.Symmetric(same), numbers.Symmetric(lagged)
}

// lagged solves later w = m now w. With now = QΛQ' and W = QΛ^-½, the principal axes U of W' later W give the components xWU, whose variance is 1. The rows of
// U'Λ^½Q' are the change of the latents per unit of each component.
func lagged(now, later *mat.SymDense) (along, onto *mat.Dense, m []float64, err error) {
	q, lambda, err := numbers.Principal(now)
	if err != nil {
		return nil, nil, nil, err
	}
	d, still := len(lambda), 0
	for still < d && !(lambda[still] > leastVariance*lambda[d-1]) {
		still++
	}
	if still == d {
		return nil, nil, nil, errors.New("online: the latents do not move within any trajectory: check the pictures behind them")
	}
	white, colour := mat.NewDense(d, d-still, nil), mat.NewDense(d, d-still, nil)
	for j := range d - still {
		root := math.Sqrt(lambda[still+j])
		for i := range d {
			white.Set(i, j, q.At(i, still+j)/root)
			colour.Set(i, j, q.At(i, still+j)*root)
		}
	}
	u, ascending, err := numbers.Principal(numbers.Symmetric(numbers.Congruent(later, white)))
	if err != nil {
		return nil, nil, nil, err
	}
	reverse(u, ascending)
	along, onto = new(mat.Dense), new(mat.Dense)
	along.Mul(u.T(), colour.T())
	onto.Mul(white, u)
	return along, onto, ascending, nil
}

// reverse reverses the order of the columns of u and of their values.
func reverse(u *mat.Dense, values []float64) {
	n := len(values)
	for i := range n / 2 {
		j := n - 1 - i
		values[i], values[j] = values[j], values[i]
		a, b := mat.Col(nil, i, u), mat.Col(nil, j, u)
		u.SetCol(i, b)
		u.SetCol(j, a)
	}
}

// diffuse estimates every component's diffusion.
func (s *Components) diffuse(runs []run) {
	_, k := s.Path.Dims()
	for i := range k {
		component := &diffusion.Series{}
		for _, run := range runs {
			for row := run.from; row < run.to; row++ {
				component.M = append(component.M, s.Path.At(row, i))
			}
			component.DT = append(append(component.DT, 0), run.dt...)
		}
		found := diffusion.Free(component)
		s.Diffusion, s.Ratio = append(s.Diffusion, found.V), append(s.Ratio, found.Ratio)
	}
}
