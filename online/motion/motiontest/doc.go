// Package motiontest simulates tracks with known laws.
//
//	classes.go  tracks of the classes of online/motion, with noise, blur and missing frames
//	kinds.go    one law of each class, for classification
//	andi.go     the five models of the Anomalous Diffusion Challenge, and its mixture
//	fbm.go      fractional Gaussian noise, exact
//
// A simulator takes its random number generator: equal seeds give equal tracks. Lengths are in px and times in s.
package motiontest
