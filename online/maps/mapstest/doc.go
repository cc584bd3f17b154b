// Package mapstest simulates tracks of objects that drift by a known law over a field, for tests of online/maps and for measurements.
//
//	drifts.go  laws: springs, wells, a vortex, a flow
//	film.go    tracks by a law, with localisation noise
//	errors.go  errors of an estimated drift
//	fit.go     the drift from online/offline, for comparison
//
// Lengths are in px, times in s.
package mapstest
