// Package change tests all objects of a field against their common law: evidence that the law has changed since it was learnt, with a stated rate of
// false alarms, A frames between two on average at least.
//
//	monitor.go   Monitor: a frame's steps, and the evidence                                        (1), (4)
//	law.go       the law as nodes, what it leaves open, and what it may have become                (2)
//	track.go     Track: what one object's own steps say                                            (3)
//	evidence.go  ratios of Shiryaev and Roberts; how often states are drawn again; independence    (1), (5)
//
// # Evidence
//
// Per frame, Λ is the likelihood ratio of all objects' steps, changed law to law, given all earlier frames.
// Given the law objects are independent, and a step is given those before it, so that these ratios multiply (Shiryaev 1963, Roberts 1966; Pollak 1985):
//
//	E ← min(Λ^β, 20)(g + E),  alarm where the mean of E over the alternatives exceeds A            (1)
//
// While the law holds, E[Λ | past] = 1 at most and g is at most 1, so that the mean of E is k at most after k frames, and an alarm is false once in A frames at
// most. g is twice the mean of |ln Λ| over the latest frames: frames without information leave E unchanged. No frame counts more than twenty.
//
//	population_diffusion_changed   every D times ½, 0.71, 1.41 or 2
//	population_mixture_changed     the odds of one state four times what they are: one half becomes four fifths; an alternative a state
//
// # What is open
//
// The law is an estimate. A larger D must beat the upper end of three standard deviations of it (1.5 times its 95 % interval), a smaller one the lower, and a
// state's odds the upper end of theirs. For D below that end Λ is smaller on average, so (1) holds while D is within the ends, and once in some
// hundred laws it is not:
//
//	Λ = Π p(step | cD) / p(step | D at its end)                                                    (2)
//
// An alternative waits until its end is at most half way there, in ln D, or in the logarithm of the odds. Pieces of one track are not all new draws of a spread or of a
// state: these intervals are widened by √(pieces/objects).
//
// # One object
//
// An object has the D of its state times a factor of its own where the law has a spread (nodes of Gauss and Hermite). With weights w by its own steps so far
//
//	p(step | cD) = Σ w p(step | past steps, c d),  w ← (1 - r) w p(step | d)/Σ + r f                (3)
//
// so a slow object that stays counts only once. p is the tridiagonal density of online/states, with stray steps. r is the rate of redrawing a state, learnt from
// objects that are seen to change; D within a state is drawn again once in 100 steps. Of the mixture two chains of each state run beside w, from fractions at
// their end and from raised ones: they differ for objects that are new or that switch, and for them only.                                     (4)
//
// # Independence
//
// In a field that shakes as a whole, objects are not independent. Ranks u of steps are uniform under the law; the variance V of their means over 16 frames, by
// differences, relative to independent objects, sets β = 1/max(V, 1) in (1).                         (5)
//
// # After an alarm
//
// The caller forgets the steps so far, learns the law from new steps, and gives it to Use as the first after a change: evidence begins again. A law is not taken while
// evidence against the one before is above A/100, because it may mix steps from before and after a change. Checkpoints hold none of this: evidence begins
// again after one.
//
// # Measured
//
// Simulated with noise of 0.1 px and steps of 0.4 px an axis (TestStudy with work of 200,000, 2 shared cores, 2026-11-25), at A = 1000, 20 objects in 10,000 frames and 100 in 2,000, where 10
// and 2 false alarms of a kind are allowed, there were none where all diffuse alike and live 60 frames, where half of them has a tenth of D, where a spread is 0.5,
// with births and without, and of 20 objects that switch once in 50 steps; two where noise is 0.5 px and stated 30 % too large, three where a tenth of
// every step is shared by all objects of a frame; one where two steps in a hundred are three times as far; and three, all of the mixture, where 20 objects of two states never end.
// All of these were of D, if not said otherwise.
// Frames until an alarm, one run each, at A = 10,000. "none" means none in 1,000 frames of 20 objects or 200 of 100. Runs of 1,000 objects have A = 100,000:
//
//	                            20 objects   100        1,000
//	D doubled                   5 to 6       4          5
//	of a spread of 0.5          5 to 15      4
//	D times 1.4                 18 to 35     7          5
//	D times 0.71                17 to 21     4
//	these, of a spread of 0.5   none         none
//	fractions 0.5 to 0.8        348          24         11     of objects that live 60 frames
//	noise 0.5, D doubled        12           5
//	noise 0.5, D times 1.4      161          17
//	that switch, D doubled      8
//	that switch, D times 1.4    26, and none of D times 0.71
//
// The figures of 1,000 are of a film of 60 frames before the change.
//
// # Limits
//
// Change misses a law that drifts so slowly that each is within the interval of the one before, and fractions of a few objects that never end: 20 objects fix the odds only to a
// factor of two. Many objects that change state at once count by f alone, not by their number. A frame takes at most ten thousand steps of filters, seven a
// node: objects beyond, 1,428 of one state and 285 of one with a spread of a quarter or more, are not weighed. A frame of 1,000 objects takes 0.55 to 0.72 ms
// (BenchmarkFrame, one of two shared cores, 2026-11-25).
package change
