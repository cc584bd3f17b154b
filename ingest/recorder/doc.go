// Package recorder writes the frames of a source to disk and reads them back. Recorder wraps a source (run --record), and NewReplay reads the recording. A
// recording is a folder of TIFF files, which any viewer opens, or an OME-Zarr store, plus recording.csv, which maps every page to its frame.
//
// Recorder returns a frame after it has written the whole frame, and writes a page before its row. So a recording that is cut off ends with a whole frame, or
// with a torn row that replay skips. Replay preserves pixels, numbers, times to the nanosecond, trajectories and losses.
package recorder
