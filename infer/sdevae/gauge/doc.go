// Package gauge fixes the coordinates of learnt latents, which training does not determine (the paper's Theorem 1). In the fixed coordinates the diffusion is
// the identity everywhere, and the latents are determined up to an isometry.
//
// A Map takes the encoder's latents m to s = (m - mean) To. If s is not straight, a polynomial follows, z = φ(s) W:
//
//	whiten.go      To = C^(-½), C estimating σσ' from increments, without the part that localisation noise adds
//	rectify.go     y = s + c(s), degree 2 to 5, by the likelihood of the increments, the degree by held-out pairs
//	likelihood.go  nll = ½ ln det C + ½ mean e'C⁻¹e/Δt - ½ mean (ln det J(s₀) + ln det J(s₁)), its gradient, its ridge
//	reference.go   Map: there, back, and variances through its Jacobian
//
// Nothing in this package refers to a model. Package onnx writes a Map to the model file.
package gauge
