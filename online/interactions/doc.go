// Package interactions learns the force between two objects by their distance, from the motion of all pairs: stochastic force inference (Frishman and
// Ronceray, Physical Review X 10, 021009, 2020) on filtered places, with the evidence for a force.
//
// Object i is at x_i, px, and r_ij is the vector from j to i:
//
//	dx_i = Σ_j f(|r_ij|) r_ij/|r_ij| dt + √2D dW                                                     (1)
//
// f is a velocity, px/s, above zero where objects drive each other apart; f/D is the force over kT, 1/px. f is zero from the reach on; below it a curve
// through Knots values c_k. Ψ_k is the sum of knot k's hat over an object's neighbours, a vector for each object: dx = Σ_k c_k Ψ_k dt + √2D dW.
//
//	config.go     Config, Frame: the input
//	estimator.go  Estimator: frames in
//	law.go        D and the noise of a place                                                          (2)
//	mover.go      one object: its filter and its responses                                            (3), (4)
//	pairs.go      pairs of near objects; hats
//	sums.go       sums over steps                                                                     (5)
//	prior.go      the priors                                                                         (6)
//	evidence.go   the posterior                                                                       (6), (7)
//	curve.go      Curve: the force out
//
// # Noise
//
// A place is located with noise, m = x + √R w. The noise at the beginning of a step is in Ψ and, with opposite sign, in the step, and looks like a force: at
// σ² = DΔt the regression of steps on the places before them was wrong by four standard errors and gave twice the force. So steps go through a Kalman filter,
// as in online/regression. All objects share D and R, by the covariances of steps Δ along an axis,
//
//	E Δ² = 2DΔt + 2R,  E ΔΔ' = -R                                                                   (2)
//
// R is the caller's variance of a place plus one excess for all; motion during the exposure makes it smaller, and it may be negative, to -1/6 of
// 2DΔt. With g the known force, f's mean of half a second ago,
//
//	P = p + 2DΔt;  S = P + R;  e = m - z - gΔt;  z ← z + gΔt + (P/S)e;  p ← RP/S                     (3)
//
// e is white, and independent of all before it. It responds to each hat by h, and to the known force by h_g, which is put back:
//
//	h ← (1-P/S)h + ΔtΨ,  h̄ ← (1-P/S)h̄ + Δt(Ψ + Ψ')/2,  e + h_g = h̄c + √S w                         (4)
//
// Ψ is at the beginning of the step, Ψ' at its end, both by the filter. h̄ is right to second order in Δt, but Ψ' contains the noise of the step; h does
// not, and is the instrument. With h for both, a contact of 18 px/s with a width of 2 px was found 4.5 px/s too weak at Δt = 20 ms; with h̄, 0.2.
// An object with larger innovations, for example with another D, counts less: S is scaled by their running mean square.
//
//	M = Σ hh'/S,  A = Σ hh̄'/S,  b = Σ h(e + h_g)/S;   b ~ N(Ac, M)                                   (5)
//
// over steps and both axes, each by the probability that it is a step of that object, with forgetting. With h̄ = h these are X'X and X'y. M is scaled by the
// squares of the innovations over S, in case the law of (2) does not hold for all.
//
// # Which steps
//
// An object by the edge has unseen neighbours, unless nothing is beyond. A detection that may be two objects has no place. Its
// neighbour's steps are missing if they ended too near: the rest lead apart, which looks like repulsion, 23 px/s at D = 5 px²/s. So the step of
// an object that begins nearer to another than the resolution and three standard deviations of their relative step is not learnt from, wherever it ends:
// the filter's place selects, and it knows no later frame. If linking takes the nearest place for an object's, two that
// cross seem to bounce: between free objects that gave 1.7 px/s of repulsion at 0.8 px, within the guard, and none beyond it. Distances within the
// guard have no pairs, and the curve marks them as unknown.
//
// # Evidence
//
// A priori c ~ N(0, τ²S), S_kl = t_k t_l exp(-(u_k - u_l)²/2ℓ²). t takes the force to zero over the last quarter before a cutoff. u is r/reach, or
// ln(1 + 8r/reach)/ln 9 for a force that is steep at contact. With G = A'M⁻¹A and LL' = S the ln evidence against no force is
//
//	½ b'M⁻¹A V A'M⁻¹b - ½ ln det(I + τ²L'GL),  V = τ²L(I + τ²L'GL)⁻¹L'                               (6)
//
// averaged over both u, ℓ from 1/16 to 1/2, cutoffs at the reach, half and a quarter of it, and τ of 8 to 128 kT over it. No force has probability ½.
// Sums of the finest hats serve all of them.
//
// The reported curve is averaged over u and ℓ alone, by evidence, at the largest τ and the whole reach: it is not drawn towards zero, so that
//
//	F = Vb̂,  b̂ = A'M⁻¹b,  SE² = V_kk + the variance of F between u and ℓ                                  (7)
//
// and Evidence says whether to believe it. Mean is the average over all, none included.
//
// # Limits
//
// f may change by a tenth of its width a frame: 2|f'|Δt beyond 0.3, and a hard contact, appear smoothed over a step. A force that depends on direction, on a
// third object or on speed is out of scope. The thermal motion of neighbours is taken as independent (no flow couples them). Undetected objects act unseen.
package interactions
