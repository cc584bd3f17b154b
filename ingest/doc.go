// Package ingest makes the sources that a configuration names, and reads frames from where they are made: cameras (camera), recordings in
// files and folders (files), other programs over NATS (natsource), what this program recorded (recorder), and simulations (simulated.go).
// kinds.go is the list; Guess finds the kind of what a person types.
//
// A source is a file in the room that it belongs to, its test, and a line in kinds.go. It finds there what sources share: format and
// follow for files, picture for pixels, timing for times, child for drivers that hang.
//
// Pixels. A frame's Mat has the depth that its file has, 8 or 16 bits unsigned or float32, and one channel (grey) or three, in
// OpenCV's order: blue, green, red. Alpha is dropped. Nothing is scaled here: 16 bits stay 16 bits. Every size in a file's header
// is checked before OpenCV sees the file, because its exceptions end the process.
//
// Time. A frame of a recording carries its acquisition time, counted from the Unix epoch, so that the same file gives the same
// times at every run. dt or fps, where given, win; else a folder's frames.csv (columns file, t in seconds, trajectory), else the
// times of an NDTiff's, a CZI's or an ND2's images, the cycle time in a FITS header, the scale of an OME-Zarr's time axis, or a video's own rate, with a warning, because it is often that of
// playback. Where nothing is known a frame lasts a second, a warning says so, and Timed is false: no law per second can be learned from such frames.
//
// Growth. A recording that is still being written is followed: Read waits for the next frame until it is whole, ctx ends, or nothing
// came for so long that it has ended. What is torn then is an ErrSkip, never a frame. Following is lossless, and a pause is no lost source.
//
// A camera's frame carries the camera's own time, tied to the host's clock at the first frame; a gap in its timestamps is counted in the
// next frame's Dropped, and numbers count the missing frames, too.
//
// Processes. What calls into drivers, GStreamer or FFmpeg's network works in a child process: see child.
//
// Loss. A picture that cannot be read is a *pipeline.ErrSkip and keeps its place in time, so the step across it is longer.
// A skipped frame is not counted in the next one's Dropped as well: whoever takes the ErrSkip counts it.
package ingest
