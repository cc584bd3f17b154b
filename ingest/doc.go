// Package ingest makes the sources that a configuration names: cameras (package camera), recordings (files), other programs over NATS (natsource), Driftscope's
// own recordings (recorder), and simulations (simulated.go). kinds.go lists the kinds; Guess finds the kind of a path or address. A pipeline.Source returns
// frames with times, and every lost frame is an ErrSkip or is counted in the next frame's Dropped, never both. Frames keep the depth of their file (8 or 16
// bits unsigned, or float32) and its unscaled values. They have one channel or three (blue, green, red), without alpha.
//
// The times of a recording count from the Unix epoch, so every run repeats them. They come from the first of these that exists: dt or fps, frames.csv (columns
// file, t in seconds, trajectory), the file's own times, the rate of a video. The last gives a warning, because it is often the playback rate. Without any of
// them a frame lasts a second, Timed is false, and no law per second can be learned. Cameras stamp their frames; gaps count as Dropped. Drivers, GStreamer and
// FFmpeg's network code run in a child process (child). Sources that follow a recording wait for whole frames and skip a torn end.
package ingest
