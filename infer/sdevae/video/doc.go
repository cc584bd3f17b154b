// Package video holds the training data: a Clip of frames in [0, 1] (n × CHW) with their times and trajectories. It also computes properties of a clip that
// need no model: the noise of its pixels, its pairs of consecutive frames, and its mean, median and principal pictures.
//
// A clip is read-only: a function that changes pixels returns another clip, which shares times and trajectories.
//
//	pairs.go       Pair: a frame, its successor in the same trajectory, Δt; the split into training and held-out pairs
//	noise.go       Noise: energy of the pixels' white noise by the median of squared differences between frames; Energy: about the mean picture
//	films.go       the trajectories as films, their median pictures, the removal of their means
//	components.go  principal components and pictures
package video
