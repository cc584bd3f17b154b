// # Filter and forecasts
//
// Kalman estimates the present latent from all frames so far, and forecasts it.
//
// It is the full factorisation q(z | x, z before): what the law makes of all earlier frames, times the encoder's Gaussian. That is the
// extended Kalman filter over all dimensions together (kalman.go). With J = ∂μ/∂z about the banks' filtered latent c, renewed every d/2
// frames, and R the noise found (before the first figures the estimate is the measurement itself, with the encoder's S)
//
//	ẑ = z + [μ(c) + J(z - c)]Δt;  P ← FPF' + diag(v)Δt,  F = I + JΔt                          (14)
//	s = P_ii + R_i;  e = mᵢ - ẑᵢ;  ẑ ← ẑ + P_·i e/s;  P ← P - P_·i P_i·/s      i = 1 .. d in turn
//	NIS = Σ e²/s
//
// Because R is diagonal, taking dimensions in turn is the same as inverting P + R, and every s is positive without further care. A step of
// more than half the law's own time is taken in parts. NIS, the normalised innovation squared, is χ² with d degrees of freedom while the law
// holds.
//
// Forecasts (forecast.go) iterate the first line of (14) from the filtered latent on, in steps of a frame, μ anew at each. They know nothing
// of the law's own uncertainty. Tests hold the filter equal to conditioning the whole Gaussian at once, and forecasts to their intervals.
package online
