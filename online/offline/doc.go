// Package offline analyses whole recordings, in which all latents are known from the start. It does not need the Estimator, and returns
// the same figures as the Estimator's parts.
//
//	recording.go   the clock and the Kalman banks over all latents, about a known drift or none
//	fit.go         Fit: the drift of a recording; Measure: its diffusion
//	smooth.go      Smooth: the place of each latent, given all of them
//	tica.go        Separate: splits latents along the axes of longest memory
//
// # Fit
//
// σ², the noise and the drift depend on each other. So Fit finds them twice: σ² and the noise without a drift, a drift from them, then both
// again about that drift's affine part.
//
// # Components
//
// If latents are mixed, every one seems to move. Separate unmixes them first. x are the latents minus their trajectory's mean. C is their
// covariance, C₂ the symmetrised covariance with the latents two frames later. The components are y = xw,
//
//	C₂w = λCw,  w'Cw = 1
//
// in descending order of λ, the correlation two frames apart. Noise has none. A component moves when its bank, which has no drift, finds
//
//	2 Δln-likelihood > 16  and  vᵢ|aᵢ|² > 0.01 × the largest,  x = Σ yᵢaᵢ
//
// With a decoder f, vᵢ mean|∂f/∂yᵢ|² replaces vᵢ|aᵢ|²: padding latents have no scale of their own, pictures have.
// The axes were chosen for their memory, hence 16 instead of the 9.5 of online/diffusion. On simulated latents, 2 moving of 16, 300 to 400
// transitions in one film or four, the number was right in 1795 of 1800 draws and too large in 5. Of 600 draws of pure noise, 8 had a
// moving component. Separate undoes only linear mixing: a latent that is a nonlinear function of the coordinates moves as they do, and
// counts as one more.
package offline
