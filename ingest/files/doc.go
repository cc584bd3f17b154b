// Package files reads recordings: folders of pictures, TIFF, NDTiff, OME-Zarr, FITS, HDF5, CZI, ND2 and videos. Each kind has a file of its own, and one more (_follow)
// where the recording is read while it is written.
//
// A source has a timing.Clock, which numbers and times its frames, and fails at Open what it can refuse there. A frame that cannot be read is a
// *pipeline.ErrSkip with a cause, and reading goes on; what is torn at the end of a file that grew is skipped, never given. Followed sources wait
// by a follow.Tail, until ctx ends or nothing came for until_idle. A video that is followed works in a child process (ingest/child), for FFmpeg
// waits for bytes beyond the reach of a context.
package files
