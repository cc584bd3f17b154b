// Package switching has the state of every object that switches between states of diffusion, as it moves, how often they switch, and the evidence that they do.
//
// An object is in one of K states, each with its D. It leaves state i for j at a rate q_ij, 1/s: after t s
//
//	P(t) = exp(Qt),  Q_ij = q_ij,  Q_ii = -Σ_j q_ij                                                 (1)
//
// so that a gap of some frames is a longer step. During a step the state is taken for one.
//
//	model.go   Model: what all objects share; the evidence                                           (5)
//	rates.go   rates and transitions                                                                (1), (4)
//	place.go   a place under one state                                                              (2)
//	track.go   Track: one object's filter                                                           (3)
//	smooth.go  the state some frames ago; what is learnt from it                                     (3), (4)
//	still.go   an object that keeps its D                                                           (5)
//	path.go    Path: a whole track, its switches and their times                                     (3)
//
// # One object
//
// A place m is located with a noise of variance σ² and is the mean over an exposure of e s, at the end of its step. The object is at x, N(z, p) before the step,
// and along each axis
//
//	x' = x + √(2DΔt) w;  cov of (x', m) given m's before: var x' = p + 2DΔt, cov = p + 2DΔt - De, var m = p + 2DΔt - 4De/3 + σ²   (2)
//
// which has the covariances of steps E Δ² = 2DΔt + 2σ² - 4RDΔt, E ΔΔ' = -(σ² - 2RDΔt), R = e/6Δt (Berglund, Physical Review E 82, 011917, 2010). So a step
// is not independent of those before, and each state's filter hangs on all states before it. Every state is taken to every other, K² filters; those that end in
// the same are merged to their mean and variance (Kim, Journal of Econometrics 60, 1, 1994). One step in a thousand may be a jump to any place, in every state
// alike, so that a false place is no evidence. What is left of a step is
//
//	w_n(i|j) = p(s_n-1 = i | s_n = j, m_1..m_n)                                                     (3)
//
// With p(s_N | m_1..m_N) these are a Markov chain that runs back from the last step, of which the probability of each state, its switches and the likeliest way
// follow. It knows of a place's noise as much as one step later tells.
//
// # Rates
//
// Expected switches N_ij, of Σ w_n(i|j) p(s_n = j), and times T_i are summed over all objects from steps that 16 or more came after (expectation and
// maximisation, online: Cappé, Journal of Computational and Graphical Statistics 20, 728, 2011):
//
//	q_ij = (N_ij + a/(K-1))/(T_i + a·lasts),  a = ½                                                 (4)
//
// A harvest counts by the square of its place among all, because the first were read by rates that were not right: at the beginning nothing switches. Rates are
// told too low by what is too short to be seen, and while they are learnt: over 400 frames by a fifth at one switch in 50 steps and D ten times apart, by a
// quarter where D is four times apart (bench population).
//
// # Evidence
//
// Each step's likelihood by what was known before it is compared with that of an object that keeps its D,
//
//	Σ ln p(m_n | m_1..m_n-1, switching) - ln p(m_n | m_1..m_n-1, keeps D)                           (5)
//
// where D is that of a state, by their shares, or any from the first to the last, three to a state: the better of both is told. So rates are judged by steps
// that they were not learnt from, and objects whose D lies between two states are not taken for some that switch: of 60 tracks between two states
// the evidence was +2011 against the states, and -2436 against any D.
package switching
