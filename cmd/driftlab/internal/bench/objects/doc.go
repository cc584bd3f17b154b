// Package objects measures how well every object of simulated fields is located and followed, frame by frame and without a look ahead, beside perfect
// detections given to the same tracker, the Cramér-Rao bound of a place and, where it is asked for, trackpy on the same films.
package objects
