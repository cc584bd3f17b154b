// Package recorder keeps the frames of a source on disk and returns them later: Recorder wraps a source (run --record), and
// NewReplay reads the recording. A recording is a folder of TIFF files, which any viewer opens, or an OME-Zarr store, plus
// recording.csv, which maps every page to its frame.
//
// A frame is whole on disk before Recorder returns it, and a page is written before its row. A recording that is cut off thus
// ends with a whole frame, or with a torn row that replay skips. Replay preserves pixels, numbers, times to the nanosecond,
// trajectories and losses.
package recorder
