// Package interactions learns the force between two objects, as a function of their distance, from the motion of all pairs.
//
// Estimator takes Frames of positions and returns a Curve: the force with its standard errors, and the evidence for it. Config has the reach and the
// resolution.
//
// Only the filtered position at the beginning of a step decides whether the step counts, because a rule on its end would select steps that look like
// repulsion.
//
// The method is stochastic force inference (Frishman and Ronceray, Physical Review X 10, 021009, 2020) on filtered positions. estimator.go has the model,
// law.go the noise (2) to (5), evidence.go the posterior (6) and (7).
package interactions
