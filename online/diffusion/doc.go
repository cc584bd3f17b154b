// Package diffusion estimates σ² and the noise R of each latent dimension, with intervals, and decides which dimensions move.
//
// A bank follows one dimension with Kalman filters on a grid of ψ = σ²Δt/R. Banks holds a bank per dimension of a stream. Estimate is the result. Free
// estimates σ² of whole paths without a drift.
//
// A bank learns relative to the current drift. If the drift is unknown, σ² includes the motion by the drift.
//
// The covariance-based estimator is from Vestergaard, Blainey and Flyvbjerg (2014), motion blur from Berglund (2010). Each file begins with its
// equations.
package diffusion
