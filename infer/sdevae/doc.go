// Package sdevae trains the encoder: the SDE-VAE of Hasan, Pereira, Farsiu and Tarokh, Identifying Latent Stochastic
// Differential Equations (2021), on one video. It gives latents that are the true coordinates up to an isometry.
//
// A frame x has the posterior q(z|x) = N(m(x), S(x)), S = L L' with L lower triangular or diagonal, a decoder f draws it back, and
// the latents obey dz = μ(z) dt + σ dW. For a mini-batch of random consecutive pairs (x₀, x₁), Δt apart, the loss is
//
//	rec  = mean over frames of |f(m + L ε) - x|² / 2τ       summed over pixels
//	eᵢ   = mᵢ(x₁) - mᵢ(x₀) - μᵢ(m(x₀)) Δt
//	qᵢ   = mean over pairs of (eᵢ² + Sᵢᵢ(x₀) + Sᵢᵢ(x₁)) / Δt
//	loss = rec + ½ Σᵢ ln qᵢ - mean over frames of ln det L
//
// Variants: with a learnt diffusion, Σᵢ qᵢ/2σᵢ² + ln σᵢ stands for ½ Σᵢ ln qᵢ; with sub-steps, m(x₀) + μ Δt is replaced by that many
// steps of Euler's along the drift; a prior adds ν/2 mean (Σᵢ Sᵢᵢ + mᵢ²), and l1 a multiple of Σᵢ √qᵢ |∂f/∂zᵢ|, the motion in the
// picture, which no scale of z changes.
//
// With a clock, the drift is μ(z, c) and the encoder's last layer sees c behind its features, as the paper has it for drifts that
// depend on time: c = 2t/T - 1, where t is the time since the frame's trajectory began and T the longest trajectory's duration. In the
// file t enters in seconds, up to T. That drift shapes the encoder and is then left behind, as the one without a clock is: the
// exported drift is fitted to the exported latents, of z alone, and is the mean over the clip; the online estimator follows the
// law's changes.
//
// ½ ln q is the Gaussian transition likelihood with σᵢ² at its maximum, so the scale of z is free during training; the export
// settles it by whitening (whiten.go): z = C^(-½) (m - mean), where C estimates σσ' from the increments. One entropy is counted
// a transition, not two, and pairs are drawn at random, so that batch normalisation sees the whole video at every step.
//
// Before that the latents are straightened (rectify.go), as the paper's Theorem 1 has it: a change of variables that makes the
// diffusion the same everywhere leaves only an isometry open. With s the white latents of unit variance, c(s) a polynomial of
// their monomials of degree 2 to 5 at most, y = s + c(s), J = ∂y/∂s and e = y₁ - y₀ over the clip's pairs,
//
//	nll = ½ ln det C + ½ mean e'C⁻¹e/Δt - ½ mean (ln det J(s₀) + ln det J(s₁))       C = mean ee'/Δt on the training pairs
//
// is minimised by L-BFGS without ever folding the clip, with a ridge on ∂c/∂s. One pair in five, held out, chooses the degree, whose c
// is then learnt from all pairs; the latents stay as they are where no degree gains there, or where localisation noise hides the
// increments. A clip too short for that, in which things move by little, is straightened along the principal components of its pictures
// instead (level.go). The exported encoder is y whitened, with its variances carried through J; the decoder's way back is a polynomial
// fitted to the clip. Beyond the clip's range both extrapolate.
//
// Where what moves is things that keep their shape, as many as the latents have pairs of coordinates, they are found first (movers.go): a
// still picture and shapes sₖ, and places pₖ in every frame, by turns, so that
//
//	Σ over frames of |x - still - Σₖ sₖ(· - pₖ)|²
//
// becomes small. If that explains six tenths of what moves in held-out frames, four where noise drowns the clip, and each thing goes its own
// way, the encoder learns the places alone (follow.go), from drawings x + Σₖ sₖ(· - p'ₖ) - sₖ(· - pₖ) of frames in which the things were
// moved, as many as wanted; it rests while decoder, widths and drift learn the loss above; and the latents, places in the picture, need no
// straightening. Where noise hides things in every single frame, all of them together say where they are (faint.go). And where one thing
// moves over what changes, that is learnt first, from the clip without it and with the other latents (beside.go); the thing then hides
// some of it (cover.go). Where noise drowns a clip and no thing is found, one or two latents are looked for by which the whole picture changes
// (scenery.go): the directions in which frames are like those around them (gaze.go), of which the encoder learns from drawings under the
// clip's noise. What only tells films of one clip apart, such as a grey window of their own, is taken off before all that (films.go).
//
// What else is not the paper's: f adds what it draws to the logit of the clip's mean picture, so that no step is spent on what never
// moves; the encoder starts from the slowest components of its features instead of at random (prime.go), where noise drowns the clip of
// those of averages (drowned.go), and reads of every feature map its low moments alone (readout.go); the encoder's means rest while the
// decoder learns to draw from them, and learn slowly after (Config.Lead and Pace), for a decoder that cannot draw yet bends them;
// restarts race (train.go); then the encoder learns alone from frames that the decoder moved (sleep.go); and in the end the latents are
// found anew, as the slowest components of the features that were learnt, and the decoder learns to draw from them, or they are left again
// (redraw.go).
//
// Symbols of the paper: x frame, z latent, f decoder, μ Drift, σ Sigma, τ Tau, Δt DT, T Clip.Seconds.
// The convolutions live in package dnnl; Gorgonia holds the graph, the loss and the drift network and differentiates them.
package sdevae
