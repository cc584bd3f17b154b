// Package motiontest simulates tracks of which the law is known.
//
//	classes.go  tracks of the classes of online/motion, with noise, blur and missing frames
//	kinds.go    one law of each class, to tell apart
//	andi.go     the five models of the Anomalous Diffusion Challenge, and its mixture
//	fbm.go      fractional Gaussian noise, exact
//
// A simulator takes its generator of random numbers: equal seeds make equal tracks. Lengths are px and times s.
package motiontest
