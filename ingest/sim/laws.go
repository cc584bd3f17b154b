package sim

import (
	"math"
	"slices"
)

// constantDrift is Brownian motion with σ = I and a steady drift, from the origin: dz = μ dt + dW.
func constantDrift(dt float64, mu ...float64) SDE {
	d := len(mu)
	return SDE{
		Drift: func(dst, _ []float64) { copy(dst, mu) },
		Sigma: slices.Repeat([]float64{1}, d),
		X0:    make([]float64, d),
		DT:    dt,
	}
}

// ornsteinUhlenbeck is the isotropic d-dimensional law dz = -κ z dt + σ dW, started at the origin.
func ornsteinUhlenbeck(d int, kappa, sigma, dt float64) SDE {
	return SDE{
		Drift: func(dst, z []float64) {
			for i := range dst {
				dst[i] = -kappa * z[i]
			}
		},
		Sigma:      slices.Repeat([]float64{sigma}, d),
		X0:         make([]float64, d),
		DT:         dt,
		Stationary: settled(d, kappa, 0, sigma, dt),
	}
}

// reverting is dz = -κ (z - c) dt + dW, coordinate by coordinate, from x0.
func reverting(dt float64, kappa, c, x0 []float64) SDE {
	sd := make([]float64, len(kappa))
	for i, k := range kappa {
		sd[i] = settled(1, k, 0, 1, dt).SD[0]
	}
	return SDE{
		Drift: func(dst, z []float64) {
			for i := range dst {
				dst[i] = -kappa[i] * (z[i] - c[i])
			}
		},
		Sigma:      slices.Repeat([]float64{1}, len(kappa)),
		X0:         x0,
		DT:         dt,
		Stationary: &Gaussian{Mean: c, SD: sd},
	}
}

// circle is the spiral dx = (-κx - ωy) dt + dW₁, dy = (ωx - κy) dt + dW₂ from x0, in one plane per pair of coordinates of x0. For the ball the paper prints the
// drift (-x-3y, y-3x), a saddle that explodes. Its figure shows the drift (-x-3y, 3x-y): κ = 1, ω = 3.
func circle(kappa, omega, dt float64, x0 ...float64) SDE {
	return SDE{
		Drift: func(dst, z []float64) {
			for i := 0; i < len(z); i += 2 {
				dst[i] = -kappa*z[i] - omega*z[i+1]
				dst[i+1] = omega*z[i] - kappa*z[i+1]
			}
		},
		Sigma:      slices.Repeat([]float64{1}, len(x0)),
		X0:         x0,
		DT:         dt,
		Stationary: settled(len(x0), kappa, omega, 1, dt),
	}
}

// brownian is dz = dW from x0.
func brownian(dt float64, x0 ...float64) SDE {
	law := constantDrift(dt, make([]float64, len(x0))...)
	law.X0 = x0
	return law
}

// geometric is dx = x/2 dt + x dW from 1. Its Lamperti coordinate z = ln x is Brownian motion. The path and the truth are z;
// the picture shows x.
func geometric(dt float64) SDE {
	law := brownian(dt, 0)
	law.Shows = func(dst, z []float64) { dst[0] = math.Exp(z[0]) }
	return law
}

// doubleWell is dz = 2z (1 - z²) dt + dW, started at the ridge between its wells.
func doubleWell(dt float64) SDE {
	return SDE{
		Drift: func(dst, z []float64) { dst[0] = 2 * z[0] * (1 - z[0]*z[0]) },
		Sigma: []float64{1},
		X0:    []float64{0},
		DT:    dt,
	}
}

// cauchy is dz = -κ z / (1 + z²) dt + dW, coordinate by coordinate, from x0. Its stationary density is (1 + z²)^-κ: for κ = 1
// the Cauchy law, which has no bounded range.
func cauchy(dt float64, kappa, x0 []float64) SDE {
	return SDE{
		Drift: func(dst, z []float64) {
			for i := range dst {
				dst[i] = -kappa[i] * z[i] / (1 + z[i]*z[i])
			}
		},
		Sigma: slices.Repeat([]float64{1}, len(kappa)),
		X0:    x0,
		DT:    dt,
	}
}

// anisotropic is the law
//
//	d(x, y) = (-x, -2y) dt + S dW,   dv = (0.6 - 0.3v) dt + √v dW₃,   S = (1, 2; 2.5, 3),
//
// in its Lamperti coordinates (z₁, z₂) = S⁻¹(x, y) and z₃ = 2√v, where σ = I. (The drift that the paper prints for these coordinates still contains x and y.)
// The drift is
//
//	μ₁,₂ = S⁻¹ diag(-1, -2) S z = (-3.5 z₁ - 3 z₂, 1.25 z₁ + 0.5 z₂),   μ₃ = (1.4 - 0.3 z₃²) / (2 z₃).
//
// The path starts at (1, 0, 2). The path and the truth are z; the picture shows x, y and v. z₃ stays away from 0, but a
// discrete step may cross it: below nearest the drift is constant, and v = z₃|z₃|/4 shows the side of z₃.
func anisotropic(dt float64) SDE {
	const nearest = 0.05
	return SDE{
		Drift: func(dst, z []float64) {
			z3 := max(z[2], nearest)
			dst[0] = -3.5*z[0] - 3*z[1]
			dst[1] = 1.25*z[0] + 0.5*z[1]
			dst[2] = (1.4 - 0.3*z3*z3) / (2 * z3)
		},
		Sigma: []float64{1, 1, 1},
		X0:    []float64{1, 0, 2},
		DT:    dt,
		Shows: func(dst, z []float64) {
			dst[0] = z[0] + 2*z[1]
			dst[1] = 2.5*z[0] + 3*z[1]
			dst[2] = z[2] * math.Abs(z[2]) / 4
		},
	}
}

// settled returns the stationary law of the Euler-Maruyama chain z ← (I + AΔt) z + σ√Δt ξ for A = -κI + ωJ, where J rotates
// every plane by 90°. I + AΔt is a rotation times ρ, ρ² = (1-κΔt)² + (ωΔt)², so the variance is σ²Δt/(1-ρ²).
func settled(d int, kappa, omega, sigma, dt float64) *Gaussian {
	rho2 := (1-kappa*dt)*(1-kappa*dt) + omega*dt*omega*dt
	sd := sigma * math.Sqrt(dt/(1-rho2))
	return &Gaussian{Mean: make([]float64, d), SD: slices.Repeat([]float64{sd}, d)}
}
