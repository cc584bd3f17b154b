// Package exact infers the law of tracks from likelihoods that are exact in time: they do not assume short steps between positions.
//
// Infer takes a Track for each object and returns the numbers of the law, the kind of motion, the states of every track and remarks.
//
// All kinds of motion compete for the same tracks (choose.go). A kind is reported if its gain in nats exceeds the gain that occurs by chance in one of a
// hundred sets of tracks of another kind (docs/lab/2026-11-27-law.md).
//
// Lengths have the unit of the positions, times are in frames. Nothing is random.
package exact
