// Package gauge fixes the coordinates of learnt latents, which training leaves open (the paper's Theorem 1). Afterwards the diffusion is the identity
// everywhere, and only an isometry is open.
//
// A Map takes the encoder's own m to s = (m - mean) To, and where that is not straight to z = φ(s) W, a polynomial:
//
//	whiten.go      To = C^(-½), C estimating σσ' from increments, without the part that localisation noise adds
//	rectify.go     y = s + c(s), degree 2 to 5, by the likelihood of the increments, the degree by held-out pairs
//	likelihood.go  nll = ½ ln det C + ½ mean e'C⁻¹e/Δt - ½ mean (ln det J(s₀) + ln det J(s₁)), its gradient, its ridge
//	reference.go   Map: there, back, and variances through its Jacobian
//
// Nothing here keeps a model: a Map is a value that the file format writes out (infer/sdevae/onnx).
package gauge
