// Package tracks decides, frame by frame, which detection is which object.
//
// Tracker takes the detections of a frame and returns its tracks. Rows is a table of confirmed tracks, with the probability of every link.
//
// Track numbers are unique and never reused. Use a Tracker from one goroutine. After warm-up it allocates nothing per object and frame.
//
// Prediction is an interacting-multiple-model filter (Blom and Bar-Shalom 1988), existence integrated probabilistic data association (Musicki,
// Evans and Stankovic 1994), false maxima those of a Gaussian field (Adler 1981).
package tracks
