// Package diffusion estimates σ² and the noise R of each latent dimension, with intervals, and decides which dimensions move.
//
//	bank.go       one dimension's bank of Kalman filters, and the covariance-based estimator
//	blur.go       its filters of R < 0, for exposures that are not short
//	profile.go    the profile likelihood: σ², R and their intervals from a bank
//	activity.go   which dimensions move
//	banks.go      the banks of all dimensions, for a stream
//	again.go      banks that follow a whole track about a drift, and copies of banks
//	walk.go       a path without a drift; trap.go, one in a harmonic trap
//
// Kernels keep the symbols of the equations: v = σ², psi = ψ, z and p a filter's mean and variance, a = A, l = L, s = ΠS, n and n2 = n and
// n₂, dt0 = Δt₀.
//
// # Diffusion
//
// Naive quadratic variation mean(D²)/Δt is too large by 2R/Δt: localisation noise looks like motion. Two estimators avoid this bias.
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
// likely ψ. A bank without drift mistakes mean reversion for noise (0.73 instead of 1 at r = 16, κ = 4/s, Δt = 0.01 s), and a whirl for
// diffusion. So every slice of refinement returns banks that have followed the whole memory about the slice's own drift (again.go). Without
// them σ² of a whirl was 13 times too large once its drift was learnt. Residuals of the drift's fit then make v smaller by the share of the
// fields in the transitions. Δt₀ is the first time step. γ forgets 32 transitions at a time, so that one logarithm serves them all.
// Cubics interpolate ln A and L between the grid's points, because 1e5 transitions resolve ψ better than the grid.
//
// The interval of v holds the values whose likelihood, maximised over ψ (and R), lies within 1.92 of its maximum. It reaches 0 if ψ = 0
// does. The alternative is an integral over ψ with priors flat in ln v and ln ψ. On 300 simulated runs each, the profile interval
// covers 0.93 to 0.97 at every n from 30 to 30000 and r from 0.02 to 16, with and without forgetting. The integral covers 0.88 to 0.98, its
// worst at r = 0.1, where the prior dominates. So only the profile is computed and published.
// If the bank finds no noise at all (ψ > 1e3) and DD₊ is positive by three standard errors, (4) is used.
//
// # Dimension
//
// A dimension is active when
//
//	2 Δln-likelihood(v > 0 against v = 0) > 9.5  and  the lower limit of v > 0.01 × the largest v,   (6)
//
// inactive when the upper limit lies below that threshold, undecided between and before 100 transitions. A decision holds until v
// itself crosses the threshold or the ratio falls below 4.5, which noise alone exceeds once in a hundred times. This hysteresis adds no
// false alarm: of 900 dimensions of noise none was ever called active in 2000 transitions, of 900 that move with 0.003 of the largest
// one, with and without it. At the threshold itself decisions change 0.5 times instead of 2.0. The dimensions must be comparable
// (whitened at export), and not mixed with inactive ones. offline.Separate handles mixed ones.
//
// # Motion blur
//
// If a measurement is the mean of z over an exposure E, with noise of variance R, the increments of a free walk have
//
//	var D = vΔt - vE/3 + 2R,  cov(D, D₊) = vE/6 - R                                            (23)
//
// just as after a flash with a noise of variance R' = R - vE/6, at any time steps (Berglund 2010, whose R is E/6Δt). So (5) holds with R' for
// R. Because R' may be negative, the bank has 40 more filters, ψ = vΔt₀/|R'| from 1e4 down to 6Δt₀/E, with R' = -1:
//
//	S = P - 1;  z = m + e/S;  p = -P/S = -1 - 1/S                                              (24)
//
// (4) is not used then. Estimate.Noise is R. Estimate.FilterNoise is R', or 0 if R' is negative. A spring of κ changes (23) by κE.
//
// # A trap
//
// A path of dz = -κ(z - c)dt + σdW, started in its stationary law of variance S = σ²/2κ and measured with noise R = ρS, is Gaussian.
// One Kalman filter follows the path (innovations e, variances s) and a constant 1 (innovations e₁), in units of S:
//
//	ln L = -½[n ln S + Q/S + Σ ln s + ln Σ e₁²/s],  Q = Σ e²/s - (Σ ee₁/s)²/Σ e₁²/s          (20)
//
// n is the number of measurements minus one, because c is integrated out: at its maximum c absorbs a share of the motion, and κ is too
// large by 4/T. S has a closed form for every κ and ρ, which are on a grid. Each interval holds the values whose ln L, maximised over the
// rest, is within 1.92 of the maximum. On 100 simulated runs each it covers κ, σ and S in 0.94 to 0.99, for κΔt
// from 0.02 to 1 and noise up to the step's.
package diffusion
