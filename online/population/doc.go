// Package population estimates the law of every object of a field by its own steps, and the motion that all share.
//
// Law has the steps of one track. Common is the motion that all objects share, of the stage or of the medium.
//
// Lengths are px and times s. Memory is bounded by the live tracks.
//
// The estimator is from Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726, 2014: law.go.
package population
