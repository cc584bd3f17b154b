// Package regression learns a drift from increments: Bayesian linear regression on small groups of drift fields, averaged over which groups
// there are. It knows neither streams nor recordings; online and online/offline use it.
//
// From a list of latents to a drift:
//
//	whitener.go    Whitener: latents of the dimensions that move, in units of their √v, their noise filtered     (11)
//	steps.go       Steps: the increments that come out of it                                                     (12)
//	segments.go    each segment of the steps weighed by its own σ²
//	basis.go       the scale of the fields                                                                       (7)
//	moments.go     sums over the steps, of the affine fields and the radial one                                  (8)
//	rbf.go, rbfsums.go   radial basis functions and their sums                                                   (9)
//	linear.go      the linear fields' posterior, in closed form
//	evidence.go    every combination of groups, with its evidence                                                (10)
//	posterior.go   Posterior: the mean drift, and draws
//	network.go     the mean drift as a network
//	change.go      has the drift changed?                                                                        (13)
//	hidden.go      is there a coordinate that the latents do not show?                                           (21), (22)
//
// Kernels keep the symbols of (8): G and b, as suffixes if there are several, and K, V, λ. A radial prefix or suffix is the radial
// field's part in them.
//
// # Groups of drifts
//
// A perceptron trained to the end on one recording of 10 s is worse than no drift: L_μ is 8 to 40. So drifts are averaged over small groups
// (docs/explanation/training.md), here in units of each active dimension's √v, so that σ = 1. With u = (x - c)/ρ, c the mean of x over time and
// ρ² = mean|x - c|²/d, the groups are
//
//	constants e_i;  dilation u;  rotations u_j e_i - u_i e_j;                                (7)
//	shears u_j e_i + u_i e_j, with the stretches a_k(u_1 .. u_k, -k u_k+1), a_k = √(2/(k(k+1)));
//	radial ½(|u|² - a)u, a = mean|u|⁴/mean|u|²;  radial basis functions (RBF), up to four dimensions
//
// For coefficients of prior variance S = diag(τ²), τ² the same within a group, and Ψ the fields at a step,
//
//	G = Σ Δt Ψ'Ψ,  b = Σ Ψ'Δx,  K = I + S^½GS^½,  V = S^½K⁻¹S^½                              (8)
//	mean Vb,  ln evidence ½b'Vb - ½ ln det K
//
// An RBF is f_r(u) e_i, f = T'k(u) - A'[1,u], k_m(u) = exp(-|u - p_m|²/2ℓ²) about M = 20, 40, 50, 60 visited points. T makes T'k a
// sample of the process with that kernel, A takes out what the affine fields explain,
//
//	A = (Σ Δt [1,u][1,u]')⁻¹ Σ Δt [1,u]k',  ℓ = {½, 1, 2}·d^¼ for d ≤ 2, {0.7, 1.4}·d^¼ above     (9)
//
// Every τ² in {0, 0.2, 2, 20}·(10 s/T) for every group is part of the average. A priori of N groups
//
//	p(none) = 1/3,  p(k at given τ² > 0) = 2/3 · 1/N · 1/(N over k) · 3^-k                   (10)
//
// The constants meet no linear field, because u has mean 0; RBFs meet neither, by (9). Along the axes of Σ Δt uu' rotations and
// shears fall into pairs. What is left to invert is the radial field's one number, so that all 10240 combinations (in three
// dimensions) cost less than the sums, and nothing need be left out.
//
// A combination without constants says that the drift is 0 at c, which is where the latents were on average, not a place that was known before. A
// spring's centre is 1/(κ√T) off it, so that the drift at c is N(0, 1/T), and its mean step says nothing: Σ Δx is the path's end minus its start. So no
// evidence is for constants. Draws, of which the standard errors of the drift come, have constants of that variance wherever the drift has a shape.
//
// The mean over all combinations does not depend on how z is turned, but for σ² and R, which are found along its axes. Its affine part
// goes into the network's skip as it is; the perceptron learns the rest at visited points.
//
// # Noise
//
// The noise in m(t) is in where a step begins and, the other way round, in how far it goes, and looks like a spring: L_μ of 9 instead of
// 0.4 at r = 0.5. So the steps go through a Kalman filter first, of σ = 1 and one R, the mean of the dimensions', without drift:
//
//	P = p + Δt;  S = P + R;  e = m - z;  z ← z + (P/S)e;  p ← RP/S                            (11)
//
// The forecast z knows nothing of the noise to come, and the innovations e do not depend on each other. To first order in the drift the
// forecast responds to a field Ψ by h ← (1 - P/S)h + ΔtΨ(z), and the likelihood equals the regression's of e on h with variance S.
// With h₁ for h of Ψ = 1, that is (8) of
//
//	Ψ̄ = h/h₁, the average of Ψ over the latest z;  Δx = e h₁/S;  Δt = h₁²/S                   (12)
//
// which without noise is Ψ(m), m(t+1) - m(t) and Δt itself.
//
// Where a drift μ⁰ is known, its part in the innovations, h⁰ ← (1 - P/S)h⁰ + Δt μ⁰(z), is taken from them, and what is learnt is what the
// drift is beyond it.
//
// # Diffusion that changes
//
// Each part of the past counts by its own σ. Each step's Δx²/Δt is σ² on average, the mean over dimensions; with n of them
// in a segment and Q their sum, the ln evidence for one unknown σ² there is, but for constants, ln Γ(a) - a ln(1 + Q/2), a = 1 + n/2. Of
// all ways to cut the K blocks of 20 steps, a cut at a cost of ln(200 K), the likeliest is taken. Δx and Δt of (12) are then divided by
// their segment's σ². Otherwise more diffusion looks like another drift, and less of it has hardly a say.
//
// # A drift that changes
//
// With E the ln evidence of (8) and (10), of all K blocks of 20 steps or of some, the drift has changed after block k where
//
//	E(1..k) + E(k+1..K) - E(1..K) > ln(n · odds)                                              (13)
//
// A priori a change is as likely as none, and at each of the n places alike, 100 steps from either end at least. Affine drifts name the
// three likeliest places, by prefix sums. In up to four dimensions all fields decide, because to affine ones a jump between wells is a
// change; they are asked where affine drifts leave the odds at e^-6 or more. Noise is taken out to first order only, hence long odds in any
// case.
//
// Asked about once, at 200 to 1, of 40 springs whose centre moves by 1.7 of their spreads in both dimensions 7 are found 300 latents later and 24 after
// 1000; by 2.8 of them, 24 and 36; of 40 circles that reverse 35 after 200 and 39 after 300. On 520 noiseless paths of the laws of online/onlinetest,
// of 500 or 2000 latents without a change, one came about on 2, where 1 in 200 is allowed; on 120 across which σ of a spring becomes 1.5, 3
// or ½, on none.
//
// # Too few dimensions
//
// If the latents show all that moves them, the residuals of the steps (12), e = (Δx - μΔt)/√Δt, are white. A coordinate that
// they do not show makes e remember. Of a memory of τ steps and the share a of the variance
//
//	e = √a x + √(1-a) w;  x ← φx + √(1-φ²) w';  φ = exp(-1/τ);  w, w' ~ N(0, 1)                (21)
//
// and Λ, its likelihood ratio against e = w, comes from a Kalman filter of x. Both have the same variance, so that an error in σ² counts for
// little. Hidden is the mean
//
//	Λ̄ over τ = 8, 16, .. 256,  aτ = 1, 4,  and one of the dimensions or all of them             (22)
//
// of the steps since the drift last changed. White e make it larger than k at most once in k times. Refinement asks every 50 frames or less
// often, so too_few_dimensions, which begins where 50 Λ̄ exceeds A and is over below A/100, is false once in A frames at most. In truth far
// less often, because the drift was found in the same steps and has some of their colour: of 288 recordings of two springs, circles, double
// wells and constant drifts, 1000 and 4000 frames long, r from 0 to 9, the largest Λ̄ was 2.0, where A = 1e5 asks for 2000 and the least A
// for 20; of 56 noiseless ones of the paper's laws and of double wells in six dimensions it was 0.4. What a law of the latents alone explains
// is not seen: latents on a spring that follow closely what drives them have such a law, nearly.
package regression
