// Package ingest makes the sources that a configuration names: cameras (camera), recordings (files), other programs over NATS
// (natsource), own recordings (recorder), and simulations (simulated.go). kinds.go lists the kinds; Guess finds the kind of a
// path or address. A pipeline.Source returns frames with times, and every lost frame is an ErrSkip or is counted in the next
// frame's Dropped, never both. Frames keep their file's depth (8 or 16 bits unsigned, or float32) and have one channel or
// three (blue, green, red), without alpha and unscaled.
//
// A recording's times count from the Unix epoch, so they repeat at every run: from dt or fps, else frames.csv (columns file,
// t in seconds, trajectory), else the file's own times, else a video's rate with a warning, because it is often the playback
// rate. Without any time a frame lasts a second, Timed is false, and no law per second can be learned. Cameras stamp their
// frames; gaps count as Dropped. Drivers, GStreamer and FFmpeg's network code run in a child process (child). Followed
// recordings wait for whole frames and skip a torn end.
package ingest
