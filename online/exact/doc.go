// Package exact infers the law of tracks from likelihoods that are exact in time: it never treats the steps between places as short.
//
// Infer takes a Track for each object and returns the numbers of the law, the kind of motion, the states of every track and remarks.
//
// All kinds of motion compete for the same tracks (choose.go). A kind is reported if its gain in nats exceeds the gain that occurs in one of a
// hundred sets of tracks without it (docs/lab/2026-11-27-law.md).
//
// Lengths have the unit of the places, times are in frames. Nothing is random.
package exact
