// Package offline reads whole recordings: latents that are all there before the first is looked at. It does not need the Estimator, and gives
// what the Estimator's parts give.
//
//	recording.go   the clock and the Kalman banks over all latents, about a drift that is known or none
//	fit.go         Fit: the drift of a recording; Measure: its diffusion
//	smooth.go      Smooth: where each latent was, given all of them
//	tica.go        Separate: latents taken apart along the axes that remember most
//
// # Fit
//
// σ², the noise and the drift depend on each other. So they are found twice: σ² and the noise without a drift, a drift by them, then both
// once more about that drift's affine part.
//
// # Components
//
// Where latents are mixed, every one seems to move. Separate turns them first. With x the latents less their trajectory's mean, C and
// C₂ their covariance with themselves and, made symmetric, with those two frames later, the components are y = xw,
//
//	C₂w = λCw,  w'Cw = 1
//
// those of the largest λ, their correlation two frames apart, first. Noise has none. A component moves when its bank, which has no drift, finds
//
//	2 Δln-likelihood > 16  and  vᵢ|aᵢ|² > 0.01 × the largest,  x = Σ yᵢaᵢ
//
// or vᵢ mean|∂f/∂yᵢ|² in place of vᵢ|aᵢ|² where there is a decoder f: padding latents have no scale of their own, pictures have.
// The axes were chosen for their memory, hence 16 instead of the 9.5 of online/diffusion. On simulated latents, 2 moving of 16, 300 to 400
// transitions in one film or four, the number was right in 1795 of 1800 draws and too large in 5; of 600 with nothing but noise, 8 had
// something moving. Only linear mixing is undone: a latent that is a nonlinear function of the coordinates moves as they do, and counts as one more.
package offline
