// Package online is the tracker's law of motion: from a stream of latents it estimates the drift μ and the diffusion σ of
//
//	dz = μ(z) dt + σ dW,  σ diagonal,
//
// while frames arrive. It is pure Go. The Estimator is here; what it is made of is in the packages below, each with its own equations:
//
//	trajectory    which latents form increments, over which Δt; lists of latents
//	drift         μ: the network and its gradient, the tangent, the correction               (1) to (3)
//	diffusion     σ², the noise and their intervals; which dimensions move; a walk, a trap   (4) to (6), (20), (23), (24)
//	filter        the Kalman filter over all dimensions, and forecasts                       (14)
//	alarm         which frames are held back; evidence that the law has changed              (15), (16)
//	calibration   latents to pixels                                                          (17) to (19)
//	regression    the drift as a posterior mean over groups of drifts                        (7) to (13), (21), (22)
//	refine        that regression again and again, beside the frame path
//	offline       a whole recording: Fit, Measure, Smooth, Separate                          without the Estimator
//	sampling      from a law to paths
//	align         from latents to a truth
//
// Numbers of equations are unique across these packages. Imports go down this list's order of need: trajectory and drift know nothing of
// the others, diffusion knows these two, filter, alarm, calibration and regression know diffusion, and the Estimator is on top. offline
// does not know the Estimator.
//
// # One latent
//
// It goes in at the top of Estimator.Update (estimator.go) and comes out at the bottom:
//
//	check and clock       trajectory.Clock      is it usable, and which latent does it pair with, over which Δt
//	refined drift         refinement.go         one whose frame has come is put to use
//	believed or held      law.go                against the filter's forecast; only what is believed goes on
//	has the law changed?  alarm.Monitor.Weigh
//	Kalman banks          diffusion.Banks       one step a dimension, about the drift's tangent
//	memory                trajectory.Track      the latent is set aside for refinement
//	figures               diffusion.Banks.Refresh   every Refresh frames
//	pixels                calibration           the object's centroid beside the latent
//	alarms                alarm.Monitor.Update  begin or end
//	drift at the latent   drift.Field
//	forecasts             filter.Forecaster
//
// # Files
//
//	config.go       what an Estimator is made from, and its defaults
//	estimator.go    Update, and the interface to the runner
//	law.go          what a latent does to the law
//	refinement.go   when a slice of refinement begins, and when its outcome is put to use
//	checkpoint.go   Save and Restore
//
// Refinement learns in slices. A slice is one regression over all latents that are remembered. Its place in the stream is fixed: one begun at
// frame k knows the latents up to k and is put to use at frame k + RefineLag. In a live run it is put to use, and the next one begun, nine
// times as long after it as it took, where that is later. No slice writes what it begins from. So the law is saved, forgotten and restored
// while one is under way: a checkpoint holds what the slice was given, and whoever goes on from it begins the slice again, with the same
// outcome.
//
// # Symbols
//
// Symbols follow Hasan, Pereira, Farsiu and Tarokh, "Identifying Latent Stochastic Differential Equations" (2021). Code uses words, except in
// kernels, whose comments give the symbol of each name:
//
//	z, d        latent and its dimension              latent.Latent.Mean, drift.Network.Dim
//	m, S        the encoder's mean and variance of z  Latent.Mean, Latent.SD²; m is z measured
//	x           frame (the paper's X)                 not seen here; in code x is where a transition began
//	μ           drift, latent/s                       drift.Network.Drift, Estimate.Drift
//	σ, v = σ²   diffusion, latent/s^½                 SDE.Sigma; SDE.Diffusion is σ²/2; V of a diffusion.Estimate
//	Δt          time step, s, always from the frames' acquisition times
//	R           variance of the latents' noise        SDE.Noise is √R; found from the motion, not taken from the encoder
//	r = R/(vΔt), ψ = vΔt/R
//	T, n        observed time and transitions         SDE.Seconds, SDE.Transitions
//	γ           what a transition's weight is multiplied by at each later one    Config.Forget
//	A           frames between false alarms           Config.AlarmFrames
//	J           the drift's Jacobian                  drift.Tangent.Jacobian
package online
