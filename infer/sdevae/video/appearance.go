// # Appearance
//
// SlowFeatures finds latents of a picture that changes as a whole, if noise hides the change in every single frame.
//
//	slow_features.go  SlowFeatures: directions along which a frame resembles its neighbours (Wiskott and Sejnowski 2002), by power iteration on
//	                  lagged covariances, and a random walk's smoother of the scores along them
//	low_rank.go       LowRank: frame ≈ Σₖ φₖ(z) pictureₖ over monomials φ of the latents z, its pictures Wiener-filtered
//
// The two alternate: directions give latents, latents give pictures, and their linear part gives better directions.
package video
