// Package states infers the laws of a population of objects, and the law of each object: a mixture of states that differ in their diffusion.
//
// Infer takes a Segment for each run of steps and returns the Law: states with their intervals, and the state and D of every object. Evidence decides on the
// number of states. Spectrum returns the distribution of D for any number of states.
//
// Lengths are in px, or in any other unit if used throughout, and times in s. Nothing is random.
//
// The likelihood of steps is from Berglund (2010) and Vestergaard et al. (2014), see segment.go.
package states
