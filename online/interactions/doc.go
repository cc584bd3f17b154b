// Package interactions has the force between two objects by their distance, learnt from all pairs as they move: stochastic force inference (Frishman and
// Ronceray, Physical Review X 10, 021009, 2020) on filtered places, with the evidence for a force.
//
// Object i is at x_i, px, and r_ij is the way from j to i:
//
//	dx_i = Σ_j f(|r_ij|) r_ij/|r_ij| dt + √2D dW                                                     (1)
//
// f is a velocity, px/s, above zero where objects drive each other apart; f/D is the force over kT, 1/px. f is zero from the reach on; below it a curve
// through Knots values c_k. What the neighbours of an object make of knot k's hat is Ψ_k, a vector for each object: dx = Σ_k c_k Ψ_k dt + √2D dW.
//
//	config.go     Config, Frame: what is told
//	estimator.go  Estimator: frames in
//	law.go        D and the noise of a place                                                          (2)
//	mover.go      one object: its filter and its responses                                            (3), (4)
//	pairs.go      who is near whom; hats
//	sums.go       sums over steps                                                                     (5)
//	prior.go      what is believed before                                                             (6)
//	evidence.go   the posterior                                                                       (6), (7)
//	curve.go      Curve: the force out
//
// # Noise
//
// A place is located with noise, m = x + √R w. The noise at the beginning of a step is in Ψ and, the other way round, in the step, and looks like a force: at
// σ² = DΔt the curve of steps on the places before them was wrong by four standard errors, and told twice the force. So steps go through a Kalman filter,
// as in online/regression. D and R are those of all objects, by the covariances of steps Δ along an axis,
//
//	E Δ² = 2DΔt + 2R,  E ΔΔ' = -R                                                                   (2)
//
// R is what the caller says of a place and the same excess for all; motion during the exposure makes it smaller, and it may be negative, to -1/6 of
// 2DΔt. With g the known force, f's mean of half a second ago,
//
//	P = p + 2DΔt;  S = P + R;  e = m - z - gΔt;  z ← z + gΔt + (P/S)e;  p ← RP/S                     (3)
//
// e is white, and independent of all before it. It responds to each hat by h, and to the known force by h_g, which is put back:
//
//	h ← (1-P/S)h + ΔtΨ,  h̄ ← (1-P/S)h̄ + Δt(Ψ + Ψ')/2,  e + h_g = h̄c + √S w                         (4)
//
// Ψ is at the beginning of the step, Ψ' at its end, as the filter has both. h̄ is right to second order in Δt, but Ψ' has the noise of the step in it; h has
// not, and is the instrument. With h for both, a contact of 18 px/s with a width of 2 px was found 4.5 px/s too weak at Δt = 20 ms; with h̄, 0.2.
// An object whose innovations are larger than others', as with another D, counts less: S is scaled by their running mean square.
//
//	M = Σ hh'/S,  A = Σ hh̄'/S,  b = Σ h(e + h_g)/S;   b ~ N(Ac, M)                                   (5)
//
// over steps and both axes, each by the probability that it is a step of that object, with forgetting. With h̄ = h these are X'X and X'y. M is scaled by what the
// squares of the innovations are beside S, as where the law of (2) is not that of all.
//
// # Which steps
//
// An object by the edge has neighbours that are not seen, unless nothing is beyond. One that two may be detected as has no place. Its
// neighbour's steps are missing where they ended too near: those that are left lead apart, which looks like repulsion, 23 px/s at D = 5 px²/s. So the step of
// an object that begins nearer to another than the resolution and three standard deviations of their relative step is not learnt from, wherever it ends:
// the selection is by the filter's place, which knows nothing of what is to come. Where the nearest place is taken for an object's, two that
// cross are told to bounce: of free objects that drove them apart by 1.7 px/s at 0.8 px, within the guard, and by nothing beyond it. What is nearer than the
// guard has no pairs, and the curve says that it is not known.
//
// # Evidence
//
// A priori c ~ N(0, τ²S), S_kl = t_k t_l exp(-(u_k - u_l)²/2ℓ²), where t takes the force to zero over the last quarter before a cutoff, and u is r/reach, or
// ln(1 + 8r/reach)/ln 9 for a force that is steep at contact. With G = A'M⁻¹A and LL' = S the ln evidence against no force is
//
//	½ b'M⁻¹A V A'M⁻¹b - ½ ln det(I + τ²L'GL),  V = τ²L(I + τ²L'GL)⁻¹L'                               (6)
//
// averaged over both u, ℓ from 1/16 to 1/2, cutoffs at the reach, half and a quarter of it, and τ of 8 to 128 kT over it. No force has probability ½.
// Sums of the finest hats serve all of them.
//
// The curve that is told is averaged over u and ℓ alone, by evidence, at the largest τ and the whole reach: it is not drawn towards zero, so that
//
//	F = Vb̂,  b̂ = A'M⁻¹b,  SE² = V_kk + the variance of F between u and ℓ                                  (7)
//
// and Evidence says whether to believe it. Mean is the average over all, none included.
//
// # Limits
//
// f may change by a tenth of its width a frame: 2|f'|Δt beyond 0.3, and a hard contact, are seen smoothed over a step. A force that hangs on direction, on a
// third object or on speed is not looked for, and the motion of neighbours by heat alone is taken for independent (no flow couples them). Objects that are not detected at all act and are not known of.
package interactions
