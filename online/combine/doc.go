// Package combine pools the laws found by several cameras of one experiment, each with its states and their 95 % intervals.
//
// Pool takes a Camera for each law and returns their common law. Evidence decides which states are the same.
//
// D is in µm²/s, rates are in 1/s. Nothing is random.
//
// The model is a random-effects meta-analysis (Röver, Journal of Statistical Software 93, 6, 2020): between.go.
package combine
