// Package diffusion estimates σ² and the noise R of each latent dimension, with intervals, and decides which dimensions move.
//
// A Bank follows one dimension with Kalman filters on a grid of ψ = σ²Δt/R. Banks holds one per dimension of a stream. Estimate is the result.
// Walk and Trap estimate a whole path without a drift and in a harmonic trap.
//
// A bank follows its track about the drift in use. Without the drift, σ² contains the drift's motion.
//
// The covariance-based estimator is from Vestergaard, Blainey and Flyvbjerg (2014), motion blur from Berglund (2010). Each file begins with its
// equations.
package diffusion
