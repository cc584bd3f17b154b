// Package objects measures how well objects of simulated fields are located and tracked frame by frame, without look-ahead.
// It compares with perfect detections in the same tracker, the Cramér-Rao bound of a position and, on request, trackpy on the
// same films.
package objects
