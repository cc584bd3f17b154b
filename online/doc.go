// Package online learns the law of motion while frames arrive: from a stream of latents it estimates the drift μ and the diffusion σ of
//
//	dz = μ(z) dt + σ dW,  σ diagonal.
//
// Estimator combines the packages below this one, the filter (kalman.go), the alarms (monitor.go) and the units (calibration.go). Update learns from one
// latent, Finish ends a recording, Save and Restore write and read checkpoints. Config has the settings. Refinement reports the progress of the drift's
// refinement.
//
// A slice of refinement takes effect at a fixed frame, so a resumed or repeated run gives the same law as the original run. The package is pure Go.
//
// config.go lists the equations of all packages, and the symbols of Hasan et al. (2021).
package online
