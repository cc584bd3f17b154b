// Package online learns the law of motion while frames arrive: from a stream of latents it estimates the drift μ and the diffusion σ of
//
//	dz = μ(z) dt + σ dW,  σ diagonal.
//
// It is pure Go. Estimator combines what follows. Each has its own equations:
//
//	drift         μ: the network and its gradient, the tangent, the correction; from a law to paths     (1) to (3)
//	diffusion     which latents form increments; σ², the noise and their intervals; a walk, a trap      (4) to (6), (20), (23), (24)
//	filter.go     the Kalman filter over all dimensions, and forecasts                                  (14)
//	alarms.go     which frames are held back; evidence that the law has changed                         (15), (16)
//	pixels.go     latents to pixels                                                                     (17) to (19)
//	regression    the drift as a posterior mean over groups of drifts, repeated beside the frame path   (7) to (13), (21), (22)
//	offline       a whole recording: Fit, Measure, Smooth, Separate; from latents to a truth            without the Estimator
//
// Numbers of equations are unique across these packages. drift imports none of the others. diffusion imports drift, and regression both. The
// Estimator imports all three. offline does not import the Estimator.
//
// # One latent
//
// Estimator.Update (estimator.go) runs these steps in order:
//
//	check and clock       diffusion.Clock       is it usable, and which latent does it pair with, over which Δt
//	refined drift         refinement.go         a slice that is due applies
//	believed or held      law.go                against the filter's forecast; only believed latents continue
//	has the law changed?  Monitor.Weigh
//	Kalman banks          diffusion.Banks       one step per dimension, about the drift's tangent
//	memory                diffusion.Track       stores the latent for refinement
//	figures               diffusion.Banks.Refresh   every Refresh frames
//	pixels                Calibration           the object's centroid beside the latent
//	alarms                Monitor.Update        begin or end
//	drift at the latent   drift.Field
//	forecasts             Forecaster
//
// # Files
//
//	config.go       the settings of an Estimator, and their defaults
//	estimator.go    Update, and the interface to the runner
//	law.go          the effect of a latent on the law
//	refinement.go   when a slice of refinement begins, and when its result applies
//	checkpoint.go   Save and Restore
//
// Refinement learns in slices. A slice is one regression over all latents in memory. Its place in the stream is fixed: a slice that begins
// at frame k knows the latents up to k and applies at frame k + RefineLag. In a live run a slice applies, and the next begins, no earlier
// than nine times its duration after it ended. No slice writes its input. So the law can be saved, forgotten and restored while a slice
// runs: a checkpoint holds the slice's input, and the restored estimator runs the slice again, with the same result.
//
// # Symbols
//
// Symbols follow Hasan, Pereira, Farsiu and Tarokh, "Identifying Latent Stochastic Differential Equations" (2021). Code uses words, except in
// kernels, whose comments give the symbol of each name:
//
//	z, d        latent and its dimension              latent.Latent.Mean, drift.Network.Dim
//	m, S        the encoder's mean and variance of z  Latent.Mean, Latent.SD²; m is the measurement of z
//	x           frame (the paper's X)                 unused here; in code x is the start of a transition
//	μ           drift, latent/s                       drift.Network.Drift, Estimate.Drift
//	σ, v = σ²   diffusion, latent/s^½                 SDE.Sigma; SDE.Diffusion is σ²/2; V of a diffusion.Estimate
//	Δt          time step, s, always from the frames' acquisition times
//	R           variance of the latents' noise        SDE.Noise is √R; estimated from the motion, not taken from the encoder
//	r = R/(vΔt), ψ = vΔt/R
//	T, n        observed time and transitions         SDE.Seconds, SDE.Transitions
//	γ           factor on a transition's weight at each later transition    Config.Forget
//	A           frames between false alarms           Config.AlarmFrames
//	J           the drift's Jacobian                  drift.Tangent.Jacobian
package online
