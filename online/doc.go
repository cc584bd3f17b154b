// Package online is the tracker's law of motion: from a stream of latents it estimates the drift μ and the diffusion σ of
//
//	dz = μ(z) dt + σ dW,  σ diagonal,
//
// while frames arrive. Pure Go; it imports nothing of this project but internal/latent.
//
// One latent goes in at the top and comes out at the bottom of Estimator.Update (estimator.go):
//
//	check and clock      estimator.go   is it usable, and which latent does it pair with, over which Δt
//	refined drift        refine.go      one whose frame has come is put to use
//	believed or held     take.go        against the filter's forecast (filter.go, alarm_frame.go); only what is believed goes on
//	a changed law?       alarm_change.go
//	Kalman bank          diffusion.go, blur.go   one step a dimension, about the drift's linearisation
//	memory               track.go       the latent is set aside for refinement
//	figures              interval.go, dimension.go   every Refresh frames
//	pixels               calibration.go, solver.go   the object's centroid beside the latent
//	alarms               alarm.go       begin or end
//	drift at the latent  field.go, network.go
//	forecasts            forecast.go
//
// Beside the frame path the drift is learnt again and again from what is remembered (learner.go), as Fit learns that of a whole recording:
//
//	transitions, σ², noise   recording.go   Fit: twice, without a drift, then about the one found
//	their noise filtered     steps.go
//	each part's own σ²       weigh.go       not in Fit
//	has the drift changed?   change.go      not in Fit
//	sums                     basis.go, moments.go, bumps.go, bumpsums.go
//	evidence                 linear.go, evidence.go   of every combination of groups of drifts
//	mean drift               posterior.go
//	too few dimensions?      hidden.go      not in Fit
//	a network like it        student.go
//
// Relaxation (ornstein.go) and FreeWalk (walk.go) are for paths of coordinates in a trap, and for a few frames.
//
// Smooth (smooth.go) says by the same law where each latent was, given the whole recording. Separate (tica.go) takes latents apart whose
// axes mix what moves with what does not. loss.go holds what training the encoder shares with tracking, on Gorgonia; checkpoint.go and
// archive.go keep the state. path.go goes the other way, from a law to paths.
//
// # Symbols
//
// Those of Hasan, Pereira, Farsiu and Tarokh, "Identifying Latent Stochastic Differential Equations" (2021), and method.md:
//
//	z, d        latent and its dimension              latent.Latent.Mean, Network.Dim
//	m, S        the encoder's mean and variance of z  Latent.Mean, Latent.SD²; m is z measured
//	x           frame (the paper's X)                 not seen here; in code x is where a transition began
//	μ           drift, latent/s                       Network.Drift, Estimate.Drift
//	σ, v = σ²   diffusion, latent/s^½                 SDE.Sigma; SDE.Diffusion is σ²/2
//	Δt          time step, s, always from the frames' acquisition times
//	R           variance of the latents' noise        SDE.Noise is √R; found from the motion, not taken from the encoder
//	r = R/(vΔt), ψ = vΔt/R
//	T, n        observed time and transitions         SDE.Seconds, SDE.Transitions
//
// # Drift network
//
// The paper's perceptron, four hidden layers of 16 with softplus between, and a linear skip K, on inputs of order one:
//
//	a₀ = u = (z - centre)/scale;  aₗ = softplus(aₗ₋₁Wₗ + bₗ);  μ = a_L W + b + uK           (1)
//
// # Loss of the SDE
//
// Per transition, Euler and Maruyama's increments about the means of consecutive frames (method.md, section 1)
//
//	e = m(t+1) - m(t) - μ(m(t))Δt                                                            (2)
//	qᵢ = mean over pairs of (eᵢ² + S_ii(t) + S_ii(t+1))/Δt,  loss ½ Σ ln qᵢ                  (3)
//
// q is σ² at its maximum of likelihood. ProfiledDiffusion gives it as a node of Gorgonia's graph.
//
// # Diffusion
//
// Naive quadratic variation mean(D²)/Δt is too large by 2R/Δt: localisation noise looks like motion. Two estimators are not.
// With D = e of (2) and D₊ the next one, the covariance-based one (Vestergaard, Blainey and Flyvbjerg 2014) is
//
//	v = (mean D² + 2 mean DD₊)/mean Δt,  ε = -2 mean DD₊/(vΔt)                               (4)
//	var v = v²[(6 + 4ε + 2ε²)/n + 4(1+ε)²/n²]
//
// and it needs no model of the noise, not even R ≥ 0: motion blur makes DD₊ positive. The Kalman bank is efficient at every r.
// In units of R, for 121 log-spaced ψ from 1e-6 to 1e4 and ψ = 0, starting each trajectory at z = m, p = 1:
//
//	P = F²p + ψΔt/Δt₀;  S = P + 1;  e = m - ẑ;  z = ẑ + (P/S)e;  p = P/S                     (5)
//	A = A + e²/S;  L = L + ln S;  n = n + 1;  n₂ = n₂ + 1;  every 32 first γ³²A, γ³²L, γ³²n, γ⁶⁴n₂
//	ln-likelihood(v, ψ) = -(n/n₂)½[n ln R + A/R + L],  R = vΔt₀/ψ;  at its maximum R = A/n
//
// The forecast ẑ = c + μ(c)Δt + F(z - c), F = 1 + Δt ∂μᵢ/∂zᵢ(c), linearises the drift about c, the filtered latent of the most
// likely ψ; a bank without drift takes mean reversion for noise (0.73 instead of 1 at r = 16, κ = 4/s, Δt = 0.01 s). The
// weights are those published at that frame, so that no residual was part of its own fit. Δt₀ is the first time step. γ forgets,
// in stairs of 32 transitions, so that one logarithm serves a stair. What was folded in before the drift was known stays as it was:
// with κ = 4/s and r = 1, v is 0.90 of the truth after 6 s and its interval covers 0.89. Between the grid's points ln A and L are
// interpolated by cubics: 1e5 transitions know ψ better than the grid does.
//
// The interval of v is where the likelihood maximised over ψ (and R) lies within 1.92 of its top; it reaches 0 where ψ = 0 does.
// The other choice, priors flat in ln v and ln ψ and an integral over ψ, was measured beside it on 300 simulated runs each:
// the profile interval covers 0.93 to 0.97 at every n from 30 to 30000 and r from 0.02 to 16, with and without forgetting; the
// integral 0.88 to 0.98, its worst at r = 0.1, where it leans on the prior. So the profile is published, and alone computed.
// Where the bank sees no noise at all (ψ > 1e3) and DD₊ is positive by three standard errors, (4) is used.
//
// # Paths
//
// A path of a law is drawn in Euler and Maruyama's steps of h. One that must end at b is a Brownian bridge, in steps drawn exactly, whose
// law has the density
//
//	dP/dB ∝ exp Σ [μᵢ(z)Δzᵢ - ½μᵢ(z)²h]/σᵢ²                                                   (Girsanov)
//
// against the learnt law in steps of h, given both ends. So bridges of that law are drawn by Metropolis and Hastings' rule: stretches of
// random length are proposed anew as Brownian bridges (Elerian, Chib and Shephard 2001; Roberts and Stramer 2001), each point 400
// times. Of a spring of κ over T, begun Brownian, the variance along the bridge is then the exact one within the error of 150 to 400
// bridges (0.01 to 0.07 of it) for κT = 4, 5, 40 and 400; 100 times serve up to κT = 40.
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
// which dimensions compare (whitened at export), not mixed with inactive ones.
//
// Where they are mixed, every latent seems to move. Separate turns them first. With x the latents less their trajectory's mean, C and
// C₂ their covariance with themselves and, made symmetric, with those two frames later, the components are y = xw,
//
//	C₂w = λCw,  w'Cw = 1
//
// those of the largest λ, their correlation two frames apart, first. Noise has none. A component moves when its bank, which has no drift, finds
//
//	2 Δln-likelihood > 16  and  vᵢ|aᵢ|² > 0.01 × the largest,  x = Σ yᵢaᵢ
//
// or vᵢ mean|∂f/∂yᵢ|² in place of vᵢ|aᵢ|² where there is a decoder f: latents to spare have no scale of their own, pictures have.
// The axes were chosen for their memory, hence 16 instead of 9.5. On simulated latents, 2 moving of 16, 300 to 400 transitions in one film
// or four, the number was right in 1795 of 1800 draws and too large in 5; of 600 with nothing but noise, 8 had something moving. What is
// bent stays so: a latent that is a curved function of the coordinates moves as they do, and counts as one more.
//
// # Drift of a recording
//
// A perceptron trained to the end on one recording of 10 s is worse than no drift: L_μ is 8 to 40. Fit averages over small groups of
// drifts instead (method.md, section 5), here in units of each active dimension's √v, so that σ = 1. With u = (x - c)/ρ, c the mean of
// x over time and ρ² = mean|x - c|²/d, the groups are
//
//	constants e_i;  dilation u;  rotations u_j e_i - u_i e_j;                                (7)
//	shears u_j e_i + u_i e_j, with the stretches a_k(u_1 .. u_k, -k u_k+1), a_k = √(2/(k(k+1)));
//	radial ½(|u|² - a)u, a = mean|u|⁴/mean|u|²;  bumps, up to four dimensions
//
// For coefficients of prior variance S = diag(τ²), τ² the same within a group, and Ψ the fields at a step,
//
//	G = Σ Δt Ψ'Ψ,  b = Σ Ψ'Δx,  K = I + S^½GS^½,  V = S^½K⁻¹S^½                              (8)
//	mean Vb,  ln evidence ½b'Vb - ½ ln det K
//
// Bumps are f_r(u) e_i, f = T'k(u) - A'[1,u], k_m(u) = exp(-|u - p_m|²/2ℓ²) about M = 20, 40, 50, 60 visited points: T makes T'k a
// sample of the process with that kernel, A takes out what the affine fields explain,
//
//	A = (Σ Δt [1,u][1,u]')⁻¹ Σ Δt [1,u]k',  ℓ = {½, 1, 2}·d^¼ for d ≤ 2, {0.7, 1.4}·d^¼ above     (9)
//
// Every τ² in {0, 0.2, 2, 20}·(10 s/T) for every group has its say. A priori of N groups
//
//	p(none) = 1/3,  p(k at given τ² > 0) = 2/3 · 1/N · 1/(N over k) · 3^-k                   (10)
//
// The constants meet no linear field, because u has mean 0; bumps meet neither, by (9). Along the axes of Σ Δt uu' rotations and
// shears fall into pairs. What is left to invert is the radial field's one number, so that all 10240 combinations (in three
// dimensions) cost less than the sums, and nothing need be left out.
//
// The noise in m(t) is in where a step begins and, the other way round, in how far it goes, and looks like a spring: L_μ of 9 instead of
// 0.4 at r = 0.5. So the steps go through a Kalman filter first, of σ = 1 and one R, the mean of the dimensions', without drift:
//
//	P = p + Δt;  S = P + R;  e = m - z;  z ← z + (P/S)e;  p ← RP/S                            (11)
//
// The forecast z knows nothing of the noise to come, and the surprises e do not depend on each other. To first order in the drift the
// forecast answers to a field Ψ by h ← (1 - P/S)h + ΔtΨ(z), and the likelihood is that of the regression of e on h with variance S.
// With h₁ for h of Ψ = 1, that is (8) of
//
//	Ψ̄ = h/h₁, the average of Ψ over the latest z;  Δx = e h₁/S;  Δt = h₁²/S                   (12)
//
// which without noise is Ψ(m), m(t+1) - m(t) and Δt itself.
//
// The mean over all combinations does not depend on how z is turned, but for σ² and R, which are found along its axes. Its affine part
// goes into the network's skip as it is; the perceptron learns the rest at visited points.
//
// # Refining the drift
//
// While frames arrive the same is done about the model's own drift μ⁰: its part in the surprises, h⁰ ← (1 - P/S)h⁰ + Δt μ⁰(z), is taken
// from them, and what is learnt is what the drift is beyond it. That is nothing until the evidence says otherwise, so a model that is right
// loses little and one that is wrong is put right. Every slice learns from all that is remembered, up to Replay transitions, and begins
// when a sixteenth of them is new, which bounds its cost a frame; T in τ² is the longest time that was ever remembered. The network goes on
// from the last slice's weights.
//
// What each part of the past tells is weighed by its own σ. Each step's Δx²/Δt is σ² on average, the mean over dimensions; with n of them
// in a part and Q their sum, the ln evidence for one unknown σ² there is, but for constants, ln Γ(a) - a ln(1 + Q/2), a = 1 + n/2, and of
// all ways to cut the K blocks of 20 steps, a cut at a cost of ln(200 K), the likeliest is taken. Δx and Δt of (12) are then divided by
// their part's σ². Otherwise more diffusion looks like another drift, and less of it has hardly a say.
//
// Then the slice asks whether the drift has changed. With E the ln evidence of (8) and (10), of all K blocks of 20 steps or of some,
//
//	E(1..k) + E(k+1..K) - E(1..K) > ln(n max(200, A/F))                                      (13)
//
// where a priori a change is as likely as none, and at each of the n places alike, 100 steps from either end at least; F frames are new
// since it was last asked, and in A, Config.AlarmFrames, one change may be false. Affine drifts name the three likeliest; in up to four
// dimensions all fields have the last word, because to affine ones a jump between wells is a change; they are asked where affine drifts
// leave it at e^-6 or more. What came before a change is forgotten. Noise is taken out to first order only, hence long odds in any case.
// Beyond the box of the latents that it was learnt from, what is added to the drift stays as at the box's nearest point.
//
// Asked about once, at 200 to 1, of 40 springs whose centre moves by 1.7 of their spreads in both dimensions 7 are found 300 latents later and 24 after
// 1000; by 2.8 of them, 24 and 36; of 40 circles that reverse 35 after 200 and 39 after 300. On 520 noiseless paths of the laws of method.md,
// of 500 or 2000 latents without a change, one came about on 2, where 1 in 200 is allowed; on 120 across which σ of a spring becomes 1.5, 3
// or ½, on none.
//
// Slices are bounded and their place in the stream is fixed: one begun at frame k knows the latents up to k and is put to use at frame
// k + RefineLag. In a live run it is put to use, and the next one begun, nine times as long after it as it took, where that is later: a tenth
// of one core, however fast frames come, on a thread that gives way to the frame path. No
// slice writes what it begins from: the law is kept, forgotten and restored while one is under way, a checkpoint holds what that was given,
// and whoever goes on from it begins the slice again, with the same outcome.
//
// The network's gradient is written out by hand (gradient.go): for one fixed shape it is 2.7 times faster than Gorgonia's tape at a batch of 64 (0.22 against 0.59 ms), and allocates nothing where that allocates 1300 times a step, which the frame path's
// garbage collector would pay for. Tests hold it equal to Gorgonia's gradient and to finite differences.
//
// # Filtering and forecasting
//
// The full factorisation q(z | x, z before): what the law makes of all earlier frames, times the encoder's Gaussian. That is the extended
// Kalman filter over all dimensions together. With J = ∂μ/∂z about the bank's filtered latent c, renewed every d/2 frames, and R the noise
// found (before there are figures the measurement itself stands, with the encoder's S)
//
//	ẑ = z + [μ(c) + J(z - c)]Δt;  P ← FPF' + diag(v)Δt,  F = I + JΔt                          (14)
//	s = P_ii + R_i;  e = mᵢ - ẑᵢ;  ẑ ← ẑ + P_·i e/s;  P ← P - P_·i P_i·/s      i = 1 .. d in turn
//	NIS = Σ e²/s
//
// Because R is diagonal, taking dimensions in turn is the same as inverting P + R, and every s is positive without further care. A step of
// more than half the law's own time is taken in parts. NIS is χ² with d degrees of freedom while the law holds. Forecasts iterate the first
// line of (14) from the filtered latent on, in steps of a frame, μ anew at each; they know nothing of the law's own uncertainty.
// Tests hold the filter equal to conditioning the whole Gaussian at once, and forecasts to their intervals.
//
// # Alarms
//
// A frame is held back where its NIS exceeds the 1 - 1/A quantile q of χ², A being Config.AlarmFrames, widened to n(e^(q/n) - 1) for
// variances known from n transitions; where a latent lies six sds of the training latents from their mean; and where the encoder's sd is
// four times what it was. A held frame is counted, enters neither bank nor refinement nor filter, and makes the next step longer:    (15)
//
//	unlike_training   NIS or place, one frame; over after 10 without
//	object_lost       5 frames held in a row; over after 10 that are not
//
// While the law is frozen nothing forecasts a frame: place and the encoder's sd judge alone.
//
// After 50 held frames that follow from each other as diffusion and noise allow, the object is elsewhere and a new trajectory begins;
// after 500 whatever they are like, so that nothing freezes the estimator for ever. Until the law forecasts ten frames in a row again, frames
// are then believed that follow from the one before.
//
// Of the believed frames, each active dimension's innovations e with variance s are weighed by laws that are not the one found, Λ being
// their likelihood ratio against it (Shiryaev 1963, Roberts 1966; Pollak 1985):
//
//	E ← min(Λ, 20)(1 + E),  alarm where the mean of E over the alternatives exceeds A         (16)
//	diffusion_changed   Λ = √(s/s')exp ½(e²/s - e'²/s'), of a filter with 4v or v/4
//	drift_changed       Λ = exp(ae/√s - a²/2), a = m√(v/Δt)h/√s, m = ±¼, ±½, ±1;  and of μ = 0
//
// h is the forecast's answer to a drift of 1, h ← (1 - gain)Fh + Δt. Under the law E[Λ | past] = 1, whatever the noise and the time steps,
// so the mean of E is at most k on average after k frames, and an alarm is false once in A frames at most. The laws are found and not
// given, so a comparison waits: the diffusion's until its interval is within a factor of two either way, the drift's until m²n > 256;
// and until the drift found has proven itself by 12 nats, shifts must beat no drift as well. Where the drift found is worth less than a nat
// in 2048 frames it has gone: E of no drift is 0 again, and waits until one has proven itself anew. Both only take from E, by what is known
// before the frame, so that the mean of E stays at most k. An alarm is over at A/100.
//
// Simulated at A = 1000, 15000 frames of a known spring with r = 0, 1 and 9 gave 5 to 7 false alarms of the diffusion, 4 or 5 of the drift,
// and 14 to 19 held frames, where 15 are allowed. At A = 1e5, on seeds that nothing was chosen by, 300000 frames of a known spring gave one
// of the diffusion, 2 of the drift and 3 held frames; 720000 of springs, swirls and constant drifts learnt from nothing, r from 0 to 16,
// gave 4, 2 and 4. Those are two dimensions and Gaussian noise; where latents are neither, expect more. Changes were noticed, in two or
// three runs each at r up to 1, after 14 to 22 frames where σ doubled (27 to 64 at r = 4), 72 to 77 where it was halved, 90 to 191 where a
// spring's centre moved by 2.8 of its own widths, and 33 to 215 where a swirl was reversed.
//
//	bleached   the picture's light, over 50 frames, below half of that of the first 50; over above 0.6
//
// # Physical units
//
// Where frames come with the object's centroid c in pixels, the affine map to it from the active dimensions
//
//	c = Az + b                                                                               (17)
//
// gives latents a length. A regression of c on the latents as measured would be too flat by what is noise of their variance, and the
// noises of c and m come from the same picture. So the latent one frame earlier is the instrument (Reiersøl 1945): it has no part in either,
//
//	A = (Σ c m₋')(Σ m m₋')⁻¹,  cov A = cov e ⊗ (G⁻¹)'(Σ m₋m₋')G⁻¹ · (1 + φ)/(1 - φ),  G = Σ m m₋'
//
// of deviations from each trajectory's mean, with weights γ per transition as in (5); e = c - Am - b is the residual, φ its correlation from
// frame to frame. R², of x and of y, is 1 - Σ ee₋/Σ cc₋: of the motion that lasts from one frame to the next, what A explains. Noise is no
// part of it. Two walks that have nothing to do with each other have a high R² all the same, by chance, but their residual wanders too: n(1 - φ)/(1 + φ)
// is the number of independent residuals. Lengths are given where both R² are at least 0.9 and that number is at least 10 for every number
// fitted to a coordinate. Of 40 pairs of unrelated walks of 1000 frames none passes. What of the motion is not explained, up to a tenth, is missing from
//
//	D = ½(D_x + D_y),  D_x = ½ Σ A_xi² vᵢ                                                    (18)
//
// in px²/s. Its 95 % interval puts together, as roots of sums of squares, the distances from vᵢ to the ends of their intervals (Zou and Donner
// 2008), and 1.96 standard errors by A's covariance,
//
//	√[Σ (wᵢ(v_high,i - vᵢ))² + 1.96² g'(cov A)g],  wᵢ = ∂D/∂vᵢ,  g = ∂D/∂A                      (19)
//
// On 1500 simulated runs of 600 frames it covers 0.92 without noise in the latents, where that of v does no better, and 0.96 to 0.97 with it.
//
// # A trap
//
// A path of dz = -κ(z - c)dt + σdW, started in its stationary law of variance S = σ²/2κ and measured with noise R = ρS, is Gaussian. With
// every e and s from one Kalman filter, which follows the path and, beside it, a constant 1 whose surprises are e₁, in units of S,
//
//	ln L = -½[n ln S + Q/S + Σ ln s + ln Σ e₁²/s],  Q = Σ e²/s - (Σ ee₁/s)²/Σ e₁²/s          (20)
//
// n one less than the measurements: c is integrated out, because at its maximum it takes a share of the motion with it and κ comes out
// too large by 4/T. S is known in closed form for every κ and ρ, which are on a grid. Each interval is where ln L, at its
// maximum over the rest, is within 1.92 of its top. On 100 simulated runs each it covers κ, σ and S in 0.94 to 0.99, for κΔt
// from 0.02 to 1 and noise up to the step's.
//
// # Too few dimensions
//
// Where the latents show all that moves them, what the mean drift leaves of the steps (12), e = (Δx - μΔt)/√Δt, is white. A coordinate that
// they do not show makes e remember. Of a memory of τ steps and the share a of the variance
//
//	e = √a x + √(1-a) w;  x ← φx + √(1-φ²) w';  φ = exp(-1/τ);  w, w' ~ N(0, 1)                (21)
//
// and Λ, its likelihood ratio against e = w, comes from a Kalman filter of x. Both have the same variance, so that an error in σ² counts for
// little. Every slice of refinement takes, of the steps since the drift last changed, the mean
//
//	Λ̄ over τ = 8, 16, .. 256,  aτ = 1, 4,  and one of the dimensions or all of them             (22)
//
// White e make it larger than k at most once in k times, and slices begin 50 frames apart or more, so too_few_dimensions, which begins where
// 50 Λ̄ exceeds A and is over below A/100, is false once in A frames at most. In truth far less often, because the drift was found in the same
// steps and has some of their colour: of 288 recordings of two springs, circles, double wells and constant drifts, 1000 and 4000 frames long,
// r from 0 to 9, the largest Λ̄ was 2.0, where A = 1e5 asks for 2000 and the least A for 20; of 56 noiseless ones of the paper's laws and of
// double wells in six dimensions it was 0.4. What a law of the latents alone explains is not seen: latents on a spring that follow closely what
// drives them have such a law, nearly.
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
// (4) is not used then. SDE.Noise is √R; filters and alarms see R', or nothing where it is negative. A spring of κ bends (23) by κE.
package online
