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

// ornsteinUhlenbeck is the isotropic d-dimensional law dz = -κ z dt + σ dW. It starts at the origin.
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

// circle is the spiral dx = (-κx - ωy) dt + dW₁, dy = (ωx - κy) dt + dW₂ from the origin.
// The paper prints (-x-3y, y-3x), a saddle that explodes; the circle it shows is (-x-3y, 3x-y): κ = 1, ω = 3.
func circle(kappa, omega, dt float64) SDE {
	return SDE{
		Drift: func(dst, z []float64) {
			dst[0] = -kappa*z[0] - omega*z[1]
			dst[1] = omega*z[0] - kappa*z[1]
		},
		Sigma:      []float64{1, 1},
		X0:         []float64{0, 0},
		DT:         dt,
		Stationary: settled(2, kappa, omega, 1, dt),
	}
}

// settled is the stationary law of the Euler-Maruyama chain z ← (I + AΔt) z + σ√Δt ξ for A = -κI + ωJ, J a rotation by 90°
// in every plane. I + AΔt is a rotation times ρ, ρ² = (1-κΔt)² + (ωΔt)², so the variance is σ²Δt/(1-ρ²).
func settled(d int, kappa, omega, sigma, dt float64) *Gaussian {
	rho2 := (1-kappa*dt)*(1-kappa*dt) + omega*dt*omega*dt
	sd := sigma * math.Sqrt(dt/(1-rho2))
	return &Gaussian{Mean: make([]float64, d), SD: slices.Repeat([]float64{sd}, d)}
}
