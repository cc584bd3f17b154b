// Package files reads recordings: folders of pictures, TIFF, NDTiff, OME-Zarr, FITS, HDF5, CZI, ND2 and videos. Each kind has
// a file, and a second one (_follow) for recordings that are still being written.
//
// Each source has a timing.Clock, which numbers and times its frames. Open reports every error it can find. A frame that
// cannot be read is a *pipeline.ErrSkip with a cause, and reading continues; a torn end of a growing file is skipped too.
// Followed sources wait with a follow.Tail until ctx ends or until_idle passes. A followed video runs in a child process
// (ingest/child), because FFmpeg's waits ignore the context.
package files
