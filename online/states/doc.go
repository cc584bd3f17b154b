// Package states infers the laws of a population of objects, and the law of each object: a mixture of states that differ in their diffusion.
//
// Infer takes a Segment for each run of steps and returns the Law: states with their intervals, and the state and D of every object. Spectrum is
// the distribution of D without a number of states. Evidence chooses that number.
//
// Lengths are in px, or in any other unit if used throughout, and times in s. Nothing is random.
//
// The likelihood of steps is from Berglund (2010) and Vestergaard et al. (2014): segment.go.
package states
