// Package population estimates the law of every object of a field from the object's own steps, and the common motion of all objects.
//
// Law holds the sums over the steps of one track. Common is the common motion of all objects, due to the stage or the medium.
//
// Lengths are px and times s. Memory is bounded by the live tracks.
//
// The estimator is from Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726, 2014, see law.go.
package population
