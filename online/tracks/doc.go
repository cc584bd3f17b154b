// Package tracks assigns detections to objects, frame by frame.
//
// Tracker takes the detections of a frame and returns its tracks. Rows is a table of confirmed tracks, with the probability of every link.
//
// Track numbers are unique and never reused. Use a Tracker from one goroutine. After warm-up it allocates nothing per object and frame.
//
// An interacting-multiple-model filter predicts the motion (Blom and Bar-Shalom 1988). Integrated probabilistic data association decides whether an object
// exists (Musicki, Evans and Stankovic 1994). False maxima follow the statistics of a Gaussian field (Adler 1981).
package tracks
