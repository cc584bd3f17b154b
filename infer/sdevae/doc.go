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
// With a clock, the drift is μ(z, c) and the encoder's last layers see c behind its features, as the paper has it for drifts that
// depend on time: c = 2t/T - 1, where t is the time since the frame's trajectory began and T the duration of the longest one. In the
// file t enters in seconds, up to T. That drift shapes the encoder and is then left behind, as the one without a clock is: the
// exported drift is fitted to the exported latents, of z alone, and is the mean over the clip; the online estimator follows the
// law's changes.
//
// ½ ln q is the Gaussian transition likelihood with σᵢ² at its maximum, so the scale of z is free during training; the gauge settles it
// (package gauge): z = C^(-½) (m - mean), where C estimates σσ' from the increments. One entropy is counted a transition, not two, and pairs are
// drawn at random, so that batch normalisation sees the whole video at every step. Before that the latents are straightened, as the
// paper's Theorem 1 has it: a change of variables that makes the diffusion the same everywhere leaves only an isometry open.
//
// # What happens in a training
//
//	locate.go        rigid objects are located first (package sprites); each takes two latents, x and y. Else one is, with what is left as a
//	                 dynamic background (background.go); else, at low SNR, a low-rank picture (package appearance); else nothing
//	initialise.go    first weights whose latents are slow, or principal, components of random features; at low SNR of averages
//	train.go         restarts race: all go a third of the way, the two best by held-out loss to the end
//	session.go       steps of one restart: first the decoder alone, the encoder frozen, then all (Config.FreezeSteps, EncoderRate)
//	heldout.go       looks at held-out pairs; the weights of the best one are kept
//	synthetic.go     the encoder alone, on synthetic frames that the decoder or the sprites draw
//	reinitialise.go  latents re-initialised as slow components of the learnt features, and the decoder aligned to them; kept unless they hold less
//	finish.go        gauge, drift and card of the model file, and the verdict on it (package verdict)
//
// With located sprites there is one restart: the encoder learns their places from synthetic frames alone, and is frozen while the decoder,
// the widths and the drift learn the loss above. Places in the picture need no straightening.
//
// What else is not the paper's: f adds what it draws to the logit of the clip's mean picture, so that no step is spent on what never
// moves, and the encoder's last layers read low moments of the feature maps in every other restart (package network, readout.go).
//
// A training goes on from a checkpoint bit for bit (checkpoint.go, snapshot.go); a model is continued on other clips (continue.go); grow.go chooses
// the number of latents by the held-out description length, or by what is located.
//
// Symbols of the paper: x frame, z latent, f decoder, μ Drift, σ Sigma, τ Tau, Δt DT, T Clip.Span.
// The convolutions live in package dnnl; Gorgonia holds the graph, the loss and the drift network and differentiates them (package network).
package sdevae
