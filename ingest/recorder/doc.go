// Package recorder keeps the frames of a source on disk and gives them back: Recorder is put around a source (run --record), NewReplay is the source
// of what it wrote. A recording is a folder of TIFF files, which any viewer opens, or an OME-Zarr store, and recording.csv, which says of every page
// which frame it is.
//
// A frame is whole on disk before it is handed on. A page is written before its row: a recording that is cut off ends with a whole frame, or with
// a row that is skipped as torn. Frames come back as they were read: pixels, numbers, times to the nanosecond, trajectories, losses.
package recorder
