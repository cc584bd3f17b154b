// Package diffusion finds σ² and the noise R of each latent dimension, with intervals, and says which dimensions move.
//
//	bank.go       one dimension's bank of Kalman filters, with the covariance-based estimator beside it
//	blur.go       its filters of R < 0, for exposures that are not short
//	profile.go    the profile likelihood: σ², R and their intervals off a bank
//	activity.go   which dimensions move
//	banks.go      the banks of all dimensions, as a stream needs them
//	again.go      banks that follow a whole track about a drift, and copies of banks
//	walk.go       a path without a drift; trap.go, one in a harmonic trap
//
// Kernels keep the symbols of the equations: v = σ², psi = ψ, z and p a filter's mean and variance, a = A, l = L, s = ΠS, n and n2 = n and
// n₂, dt0 = Δt₀.
//
// # Diffusion
//
// Naive quadratic variation mean(D²)/Δt is too large by 2R/Δt: localisation noise looks like motion. Two estimators are not.
// With D = e of (2) in online/drift and D₊ the next one, the covariance-based one (Vestergaard, Blainey and Flyvbjerg 2014) is
//
//	v = (mean D² + 2 mean DD₊)/mean Δt,  ε = -2 mean DD₊/(vΔt)                               (4)
//	var v = v²[(6 + 4ε + 2ε²)/n + 4(1+ε)²/n²]
//
// It needs no model of the noise, not even R ≥ 0: motion blur makes DD₊ positive. The Kalman bank is efficient at every r.
// In units of R, for 121 log-spaced ψ from 1e-6 to 1e4 and ψ = 0, starting each trajectory at z = m, p = 1:
//
//	P = F²p + ψΔt/Δt₀;  S = P + 1;  e = m - ẑ;  z = ẑ + (P/S)e;  p = P/S                     (5)
//	A = A + e²/S;  L = L + ln S;  n = n + 1;  n₂ = n₂ + 1;  every 32 first γ³²A, γ³²L, γ³²n, γ⁶⁴n₂
//	ln-likelihood(v, ψ) = -(n/n₂)½[n ln R + A/R + L],  R = vΔt₀/ψ;  at its maximum R = A/n
//
// The forecast ẑ = c + μ(c)Δt + F(z - c), F = 1 + Δt ∂μᵢ/∂zᵢ(c), linearises the drift about c, the filtered latent of the most
// likely ψ. A bank without drift takes mean reversion for noise (0.73 instead of 1 at r = 16, κ = 4/s, Δt = 0.01 s). A whirl looks like diffusion.
// So every slice of refinement leaves banks that have followed all it remembers about its own drift (again.go): otherwise σ² of a whirl was 13
// times too large when its drift had been learnt. Residuals are part of the drift's fit then, which makes v smaller by the share of the fields
// in the transitions. Δt₀ is the first time step. γ forgets, 32 transitions at a
// time, so that one logarithm serves them all. Between the grid's points ln A and L are interpolated by cubics: 1e5 transitions
// know ψ better than the grid does.
//
// The interval of v is where the likelihood maximised over ψ (and R) lies within 1.92 of its top; it reaches 0 where ψ = 0 does.
// The other choice, priors flat in ln v and ln ψ and an integral over ψ, was measured beside it on 300 simulated runs each:
// the profile interval covers 0.93 to 0.97 at every n from 30 to 30000 and r from 0.02 to 16, with and without forgetting; the
// integral 0.88 to 0.98, its worst at r = 0.1, where it leans on the prior. So the profile is published, and alone computed.
// Where the bank sees no noise at all (ψ > 1e3) and DD₊ is positive by three standard errors, (4) is used.
//
// # Dimension
//
// A dimension is active when
//
//	2 Δln-likelihood(v > 0 against v = 0) > 9.5  and  the lower limit of v > 0.01 × the largest v,   (6)
//
// inactive when the upper limit lies below that threshold, undecided between and before 100 transitions. A decision stands until v
// itself has crossed the threshold or the ratio has fallen below 4.5, which noise alone exceeds once in a hundred times. That costs no
// false alarm: of 900 dimensions of noise none was ever called active in 2000 transitions, of 900 that move with 0.003 of the largest
// one, with and without it. At the threshold itself decisions change 0.5 times instead of 2.0. The latents are taken to be in a gauge in
// which dimensions compare (whitened at export), not mixed with inactive ones. offline.Separate is for those that are mixed.
//
// # Motion blur
//
// Where a measurement is the mean of z over an exposure E, with noise of variance R, the increments of a free walk have
//
//	var D = vΔt - vE/3 + 2R,  cov(D, D₊) = vE/6 - R                                            (23)
//
// just as after a flash with a noise of variance R' = R - vE/6, at any time steps (Berglund 2010, whose R is E/6Δt). So (5) holds with R' for
// R, and where that may be negative the bank has 40 filters more, ψ = vΔt₀/|R'| from 1e4 down to 6Δt₀/E, which run with R' = -1:
//
//	S = P - 1;  z = m + e/S;  p = -P/S = -1 - 1/S                                              (24)
//
// (4) is not used then. Estimate.Noise is R, Estimate.FilterNoise R', or 0 where it is negative. A spring of κ bends (23) by κE.
//
// # A trap
//
// A path of dz = -κ(z - c)dt + σdW, started in its stationary law of variance S = σ²/2κ and measured with noise R = ρS, is Gaussian. With
// every e and s from one Kalman filter, which follows the path and, beside it, a constant 1 whose innovations are e₁, in units of S,
//
//	ln L = -½[n ln S + Q/S + Σ ln s + ln Σ e₁²/s],  Q = Σ e²/s - (Σ ee₁/s)²/Σ e₁²/s          (20)
//
// n one less than the measurements: c is integrated out, because at its maximum it takes a share of the motion with it and κ comes out
// too large by 4/T. S is known in closed form for every κ and ρ, which are on a grid. Each interval is where ln L, at its
// maximum over the rest, is within 1.92 of its top. On 100 simulated runs each it covers κ, σ and S in 0.94 to 0.99, for κΔt
// from 0.02 to 1 and noise up to the step's.
package diffusion
