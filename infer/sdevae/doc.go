// Package sdevae trains the encoder: the SDE-VAE of Hasan, Pereira, Farsiu and Tarokh, Identifying Latent Stochastic
// Differential Equations (2021), on one video. It gives latents that are the true coordinates up to an isometry.
//
// A frame x has the posterior q(z|x) = N(m(x), diag s(x)²), a decoder f draws it back, and the latents obey
// dz = μ(z) dt + σ dW. For a mini-batch of random consecutive pairs (x₀, x₁), Δt apart, the loss is
//
//	rec  = mean over frames of |f(m + s ε) - x|² / 2τ       summed over pixels
//	eᵢ   = mᵢ(x₁) - mᵢ(x₀) - μᵢ(m(x₀)) Δt
//	qᵢ   = mean over pairs of (eᵢ² + sᵢ²(x₀) + sᵢ²(x₁)) / Δt
//	loss = rec + ½ Σᵢ ln qᵢ - mean over frames of Σᵢ ln sᵢ
//
// ½ ln q is the Gaussian transition likelihood with σᵢ² at its maximum, so the scale of z is free during training; the export
// settles it by whitening (whiten.go): z = C^(-½) (m - mean), where C estimates σσ' from the increments. One entropy is counted
// a transition, not two, and pairs are drawn at random, so that batch normalisation sees the whole video at every step.
//
// Symbols of the paper: x frame, z latent, f decoder, μ Drift, σ Sigma, τ Tau, Δt DT, T Clip.Seconds.
// The convolutions live in package dnnl; Gorgonia holds the graph, the loss and the drift network and differentiates them.
package sdevae
