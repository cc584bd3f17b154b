// Package switching infers the diffusion state of every moving object, the rates of switching between states, and the evidence that objects switch.
//
// An object is in one of K states, each with its D. It leaves state i for j at rate q_ij, 1/s: after t s
//
//	P(t) = exp(Qt),  Q_ij = q_ij,  Q_ii = -Σ_j q_ij                                                 (1)
//
// so that a gap of some frames is a longer step. Within a step the state counts as constant.
//
//	model.go   Model: the parameters that all objects share; the evidence                           (5)
//	rates.go   rates and transitions                                                                (1), (4)
//	place.go   a place under one state                                                              (2)
//	track.go   Track: one object's filter                                                           (3)
//	smooth.go  the state some frames ago; learning from it                                           (3), (4)
//	still.go   an object that keeps its D                                                           (5)
//	path.go    Path: a whole track, its switches and their times                                     (3)
//
// # One object
//
// A place m has localisation noise of variance σ². It is the mean over an exposure of e s at the end of its step. Before the step the object is at x,
// N(z, p). Along each axis
//
//	x' = x + √(2DΔt) w;  cov of (x', m) given m's before: var x' = p + 2DΔt, cov = p + 2DΔt - De, var m = p + 2DΔt - 4De/3 + σ²   (2)
//
// which gives the covariances of steps E Δ² = 2DΔt + 2σ² - 4RDΔt, E ΔΔ' = -(σ² - 2RDΔt), R = e/6Δt (Berglund, Physical Review E 82, 011917, 2010). So a
// step depends on the steps before, and the filter of each state depends on all states before it. Each step runs K² filters, one per pair of states.
// Filters that end in the same state are merged to their mean and variance (Kim, Journal of Econometrics 60, 1, 1994). One step in a thousand may be a
// jump to any place, equally in every state, so that a false place is no evidence. A step leaves
//
//	w_n(i|j) = p(s_n-1 = i | s_n = j, m_1..m_n)                                                     (3)
//
// Together with p(s_N | m_1..m_N) these form a Markov chain backwards from the last step. It gives the probability of each state, its switches and the
// likeliest path. It uses the noise of a place as known one step later.
//
// # Rates
//
// The model sums the expected switches N_ij, from w_n(i|j) p(s_n = j), and the times T_i over all objects, from steps with at least 16 later steps
// (expectation and maximisation, online: Cappé, Journal of Computational and Graphical Statistics 20, 728, 2011):
//
//	q_ij = (N_ij + a/(K-1))/(T_i + a·lasts),  a = ½                                                 (4)
//
// The weight of a harvest is the square of its rank, because the first harvests used wrong rates: at the start nothing switches. Estimated rates are too
// low because short stays are invisible, and while the model learns: over 400 frames by a fifth at one switch in 50 steps and a D ratio of ten, by a
// quarter at a D ratio of four (bench population).
//
// # Evidence
//
// The evidence compares the predictive likelihood of each step with the likelihood for an object that keeps its D,
//
//	Σ ln p(m_n | m_1..m_n-1, switching) - ln p(m_n | m_1..m_n-1, keeps D)                           (5)
//
// where D is either the D of a state, weighted by the shares of the states, or any level from the first state to the last, three per state. The evidence
// is the smaller of the two ratios. So rates are judged by steps that they were not learnt from, and objects with a D between two states do not count as
// switching: for 60 tracks between two states the evidence was +2011 against the states, and -2436 against any D.
package switching
