// Package interactions learns the force between two objects as a function of their distance, from the motion of all pairs.
//
// Estimator takes a Frame of places at a time and returns a Curve: the force with its standard errors, and the evidence for it. Config has the
// reach and the noise of a place.
//
// A step counts by the filtered place at its beginning alone, because a rule on the end of a step selects steps that look like repulsion.
//
// The method is stochastic force inference (Frishman and Ronceray, Physical Review X 10, 021009, 2020) on filtered places. estimator.go has the
// model, law.go the noise (2) to (5), evidence.go the posterior (6) and (7).
package interactions
