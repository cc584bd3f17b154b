// Package objects measures how well every object of simulated fields is located and followed, frame by frame and without a look ahead, beside perfect
// detections given to the same tracker and the Cramér-Rao bound of a place.
package objects
