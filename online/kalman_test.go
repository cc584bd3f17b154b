package online

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// TestFilterIsThePosterior: for a linear law and unequal steps, mean and covariance of the last latent equal those from the joint Gaussian of all latents,
// conditioned on all measurements at once.
func TestFilterIsThePosterior(t *testing.T) {
	const n, d = 15, 3
	rng := onlinetest.Rand(5)
	slope := mat.NewDense(d, d, []float64{-4, 2, 0.5, -3, -1, 0, 1, 0, -2})
	offset, found := []float64{3, -1, 0}, []diffusion.Estimate{{V: 1, FilterNoise: 0.3}, {V: 0.5, FilterNoise: 0.02}, {V: 2, FilterNoise: 1}}
	m, dt := mat.NewDense(n, d, onlinetest.Normals(n*d, rng)), make([]float64, n)

	f, mu, centre := NewKalman(d), make([]float64, d), []float64{0.3, -2, 1}
	f.Start(m.RawRowView(0), nil, found, true)
	for i := range mu {
		mu[i] = offset[i] + mat.Dot(slope.RowView(i), mat.NewVecDense(d, centre))
	}
	for k := 1; k < n; k++ {
		dt[k] = 0.01 + 0.06*rng.Float64() // one substep per step: ‖A‖ = 6.5
		f.Predict(dt[k], &drift.Tangent{Centre: centre, Mu: mu, Jacobian: slope.RawMatrix().Data}, found)
		f.Correct(m.RawRowView(k), found)
	}

	// The posterior mean minimises Σ (m - x)²/R + Σ |x₊ - x - (a + Ax)Δt|²/(vΔt); half its Hessian is the inverse covariance.
	normal, right := mat.NewDense(n*d, n*d, nil), mat.NewVecDense(n*d, nil)
	row := mat.NewVecDense(n*d, nil)
	add := func(want, variance float64) {
		normal.RankOne(normal, 1/variance, row, row)
		right.AddScaledVec(right, want/variance, row)
		row.Zero()
	}
	for k := range n {
		for i := range d {
			row.SetVec(k*d+i, 1)
			add(m.At(k, i), found[i].FilterNoise)
			if k == 0 {
				continue
			}
			row.SetVec(k*d+i, 1)
			for j := range d {
				row.SetVec((k-1)*d+j, -slope.At(i, j)*dt[k])
			}
			row.SetVec((k-1)*d+i, row.AtVec((k-1)*d+i)-1)
			add(offset[i]*dt[k], found[i].V*dt[k])
		}
	}
	var covariance, mean mat.Dense
	if err := covariance.Inverse(normal); err != nil {
		t.Fatal(err)
	}
	mean.Mul(&covariance, right)
	for i := range d {
		onlinetest.Within(t, "mean", f.z[i:i+1], []float64{mean.At((n-1)*d+i, 0)}, 1e-9)
		for j := range d {
			onlinetest.Within(t, "covariance", f.p[i*d+j:i*d+j+1], []float64{covariance.At((n-1)*d+i, (n-1)*d+j)}, 1e-10)
		}
	}
}

// TestFilterStaysFinite: the filter stays finite for steps far longer than the law's time constant, dimensions that never move and measurements without
// noise.
func TestFilterStaysFinite(t *testing.T) {
	f, found := NewKalman(3), []diffusion.Estimate{{V: 1, FilterNoise: 0.1}, {}, {V: 1}}
	jac := []float64{-4, 1, 0, -1, -4, 0, 0, 0, -1}
	f.Start([]float64{1, 2, 3}, nil, found, true)
	for k := range 1000 {
		f.Predict([]float64{0.01, 5, 1e-6}[k%3], &drift.Tangent{Centre: make([]float64, 3), Mu: make([]float64, 3), Jacobian: jac}, found)
		f.Correct([]float64{0, 2, math.Sin(float64(k))}, found)
		for i := range 3 {
			if p := f.p[i*3+i]; !(p >= 0 && p < 1) || !(math.Abs(f.z[i]) < 3) {
				t.Fatalf("step %d: z %v, covariance %v", k, f.z, f.p)
			}
		}
	}
}
