// Package sdevae trains the encoder on one video: the SDE-VAE of Hasan, Pereira, Farsiu and Tarokh, Identifying Latent Stochastic
// Differential Equations (2021). Its latents are the true coordinates up to an isometry.
//
// A frame x has the posterior q(z|x) = N(m(x), S(x)), S = L L' with L lower triangular or diagonal. A decoder f draws it back, and
// the latents obey dz = μ(z) dt + σ dW. For a mini-batch of random consecutive pairs (x₀, x₁), Δt apart, the loss is
//
//	rec  = mean over frames of |f(m + L ε) - x|² / 2τ       summed over pixels
//	eᵢ   = mᵢ(x₁) - mᵢ(x₀) - μᵢ(m(x₀)) Δt
//	qᵢ   = mean over pairs of (eᵢ² + Sᵢᵢ(x₀) + Sᵢᵢ(x₁)) / Δt
//	loss = rec + ½ Σᵢ ln qᵢ - mean over frames of ln det L
//
// Variants: with a learnt diffusion, Σᵢ qᵢ/2σᵢ² + ln σᵢ replaces ½ Σᵢ ln qᵢ. With sub-steps, that many Euler steps along the drift replace
// m(x₀) + μ Δt. A prior adds ν/2 mean (Σᵢ Sᵢᵢ + mᵢ²). l1 adds a multiple of Σᵢ √qᵢ |∂f/∂zᵢ|, the motion in the picture, which does not
// depend on the scale of z.
//
// With a clock, the drift is μ(z, c) and the encoder's last layers read c behind its features, as in the paper for drifts that
// depend on time: c = 2t/T - 1, where t is the time since the frame's trajectory began and T the duration of the longest one. The file
// takes t in seconds, up to T. That drift shapes the encoder and is then discarded, as is the drift without a clock. The exported drift is
// fitted to the exported latents, depends on z alone, and is the mean over the clip. The online estimator follows changes of the law.
//
// ½ ln q is the Gaussian transition likelihood with σᵢ² at its maximum, so the scale of z is free during training. The gauge sets it
// (package gauge): z = C^(-½) (m - mean), where C estimates σσ' from the increments. The loss counts one entropy per transition, not two.
// Pairs are drawn at random, so that batch normalisation sees the whole video at every step. Before the gauge the latents are straightened, as
// in the paper's Theorem 1: a change of variables that makes the diffusion the same everywhere leaves only an isometry open.
//
// # Steps of a training
//
//	locate.go        first locates rigid objects (package sprites); each takes two latents, x and y. Otherwise one object, with the residual as a
//	                 dynamic background (background.go); otherwise, at low SNR, a low-rank picture (package appearance); otherwise nothing
//	initialise.go    first weights whose latents are slow, or principal, components of random features; at low SNR of averages
//	train.go         restarts race: all run a third of the way, the two best by held-out loss to the end
//	session.go       steps of one restart: first the decoder alone, the encoder frozen, then all (Config.FreezeSteps, EncoderRate)
//	heldout.go       evaluates held-out pairs; keeps the weights of the best evaluation
//	synthetic.go     trains the encoder alone, on synthetic frames drawn by the decoder or the sprites
//	reinitialise.go  latents re-initialised as slow components of the learnt features, and the decoder aligned to them; kept unless they hold less
//	finish.go        gauge, drift and card of the model file, and the verdict on it (package verdict)
//
// With located sprites there is one restart: the encoder learns their places from synthetic frames alone, and is frozen while the decoder,
// the widths and the drift learn the loss above. Places in the picture need no straightening.
//
// Other differences from the paper: f adds its drawing to the logit of the clip's mean picture, so that no step is spent on the still part,
// and the encoder's last layers read low moments of the feature maps in every other restart (package network, readout.go).
//
// A training resumes from a checkpoint bit for bit (checkpoint.go, snapshot.go). A model continues on other clips (continue.go). grow.go
// chooses the number of latents by the held-out description length, or by the located objects.
//
// Symbols of the paper: x frame, z latent, f decoder, μ Drift, σ Sigma, τ Tau, Δt DT, T Clip.Span.
// Package dnnl has the convolutions. Gorgonia holds the graph, the loss and the drift network and differentiates them (package network).
package sdevae
