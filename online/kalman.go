// Filter and forecasts
//
// Kalman estimates the present latent from all frames so far, and forecasts it.
//
// It implements the full factorisation q(z | x, z before): the law's forecast from all earlier frames times the encoder's Gaussian. This is the extended
// Kalman filter over all dimensions together. J = ∂μ/∂z at the banks' filtered latent c is renewed every d/2 frames. R is the noise found; before the first
// figures the estimate is the measurement itself, with the encoder's S.
//
//	ẑ = z + [μ(c) + J(z - c)]Δt;  P ← FPF' + diag(v)Δt,  F = I + JΔt                          (14)
//	s = P_ii + R_i;  e = mᵢ - ẑᵢ;  ẑ ← ẑ + P_·i e/s;  P ← P - P_·i P_i·/s      i = 1 .. d in turn
//	NIS = Σ e²/s
//
// Because R is diagonal, correcting one dimension after another gives the same result as inverting P + R, and every s is positive. A step longer than half
// the law's time constant is split into substeps. NIS, the normalised innovation squared, is χ² with d degrees of freedom while the law holds.
//
// Forecasts (forecast.go) iterate the first line of (14) from the filtered latent on, in steps of one frame, with a new μ at each step. They omit the law's
// own uncertainty. Tests compare the filter with conditioning the whole Gaussian at once, and check the coverage of the forecast intervals.

package online

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

const (
	stableSteps = 64  // largest number of substeps of a time step
	maxTurn     = 0.5 // largest ‖∂μ/∂z‖h of a substep h
)

// Kalman is the extended Kalman filter over all dimensions together, (14). It allocates nothing once made.
type Kalman struct {
	dim  int
	z    []float64 // the mean of the latent given all measurements; after Predict, its forecast
	p    []float64 // the covariance, dim×dim
	nis  float64   // NIS of the last measurement, χ² with dim degrees of freedom; 0 if it had no forecast
	kept *Kalman   // the forecast, restored by Uncorrect

	f, fp, column []float64 // working memory, dim×dim, dim×dim, dim
}

// NewKalman returns a filter without data.
func NewKalman(dim int) *Kalman {
	f := gaussian(dim)
	f.kept = gaussian(dim)
	f.f, f.fp, f.column = make([]float64, dim*dim), make([]float64, dim*dim), make([]float64, dim)
	return f
}

// gaussian returns a filter for copies only.
func gaussian(dim int) *Kalman {
	return &Kalman{dim: dim, z: make([]float64, dim), p: make([]float64, dim*dim)}
}

// set copies mean and covariance from src.
func (f *Kalman) set(src *Kalman) {
	copy(f.z, src.z)
	copy(f.p, src.p)
}

// Mean lends the mean of the latent given all measurements.
func (f *Kalman) Mean() []float64 { return f.z }

// NIS returns the normalised innovation squared of the last measurement, 0 if it had no forecast.
func (f *Kalman) NIS() float64 { return f.nis }

// Start begins a trajectory at m. Its variances are the noise found, or the encoder's sd squared if none is found yet.
func (f *Kalman) Start(m, sd []float64, found []diffusion.Estimate, known bool) {
	copy(f.z, m)
	clear(f.p)
	for i := range m {
		switch {
		case known:
			f.p[i*f.dim+i] = found[i].FilterNoise
		case i < len(sd):
			f.p[i*f.dim+i] = sd[i] * sd[i]
		}
	}
	f.nis = 0
}

// Predict moves the mean and the covariance ahead by dt, under the drift's tangent about c,
//
//	ẑ = z + [μ + J(z - c)]h;  P = FPF' + diag(σ²)h,  F = I + Jh
//
// in substeps h that are short enough for stability.
func (f *Kalman) Predict(dt float64, t *drift.Tangent, found []diffusion.Estimate) {
	n := substeps(dt, t.Jacobian, f.dim)
	h := dt / n
	for i := range f.f {
		f.f[i] = t.Jacobian[i] * h
	}
	for i := range f.dim {
		f.f[i*f.dim+i]++
	}
	for range int(n) {
		floats.SubTo(f.column, f.z, t.Centre)
		floats.AddScaled(f.z, h, t.Mu)
		blas64.Gemv(blas.NoTrans, h, f.square(t.Jacobian), f.vector(f.column), 1, f.vector(f.z))
		f.spread(h, found)
	}
}

// substeps returns the number of equal substeps of a step of dt.
func substeps(dt float64, jac []float64, dim int) float64 {
	norm := 0.0
	for i := range dim {
		sum := 0.0
		for _, s := range jac[i*dim : (i+1)*dim] {
			sum += math.Abs(s)
		}
		norm = max(norm, sum)
	}
	return min(max(math.Ceil(norm*dt/maxTurn), 1), stableSteps)
}

// spread computes the covariance in Predict, for the F in f.f. The result is symmetric to the last bit.
func (f *Kalman) spread(h float64, found []diffusion.Estimate) {
	d := f.dim
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.square(f.f), f.square(f.p), 0, f.square(f.fp))
	for i := range d {
		row := f.fp[i*d : (i+1)*d]
		for j := range i + 1 {
			p := floats.Dot(row, f.f[j*d:(j+1)*d])
			f.p[i*d+j], f.p[j*d+i] = p, p
		}
		f.p[i*d+i] += found[i].V * h
	}
}

func (f *Kalman) square(data []float64) blas64.General {
	return blas64.General{Rows: f.dim, Cols: f.dim, Stride: f.dim, Data: data}
}

func (f *Kalman) vector(data []float64) blas64.Vector {
	return blas64.Vector{N: f.dim, Inc: 1, Data: data}
}

// Correct adds the measurement m, one dimension after the other. Their noises are independent, so the result equals a joint correction,
//
//	s = P_ii + R_i;  e = m_i - z_i;  z ← z + P_·i e/s;  P ← P - P_·i P_i·/s;  NIS = Σ e²/s
//
// Uncorrect undoes it.
func (f *Kalman) Correct(m []float64, found []diffusion.Estimate) {
	f.kept.set(f)
	f.nis = 0
	d := f.dim
	for i := range d {
		s := f.p[i*d+i] + found[i].FilterNoise
		if found[i].V == 0 && found[i].FilterNoise == 0 || !(s > 0) { // this latent has never changed, so it carries no information
			f.z[i] = m[i]
			continue
		}
		e := m[i] - f.z[i]
		f.nis += e * e / s
		copy(f.column, f.p[i*d:(i+1)*d])
		floats.AddScaled(f.z, e/s, f.column)
		blas64.Ger(-1/s, f.vector(f.column), f.vector(f.column), f.square(f.p))
		f.p[i*d+i] = max(f.p[i*d+i], 0)
	}
}

// Uncorrect returns to the forecast and drops the last measurement.
func (f *Kalman) Uncorrect() { f.set(f.kept) }

// SD writes the standard deviations of Mean into dst.
func (f *Kalman) SD(dst []float64) {
	for i := range dst {
		dst[i] = math.Sqrt(max(f.p[i*f.dim+i], 0))
	}
}

// Archive reads or writes the mean and the covariance.
func (f *Kalman) Archive(a *archive.Codec) {
	a.Floats(f.z)
	a.Floats(f.p)
}
