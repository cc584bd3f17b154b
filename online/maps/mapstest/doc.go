// Package mapstest has tracks of objects that drift by a known law over a field, for tests of online/maps and for measuring.
//
//	drifts.go  laws: springs, wells, a vortex, a flow
//	film.go    tracks by a law, seen with noise
//	errors.go  how far a drift that was found is off
//	fit.go     the drift that online/offline finds, to be compared with
//
// Lengths are px and times s.
package mapstest
