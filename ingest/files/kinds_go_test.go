//go:build !cgo

package files

import "driftscope/ingest/child"

// kinds are the sources of this package without OpenCV.
var kinds = map[string]child.Constructor{"directory": NewDirectory, "fits": NewFITS, "ndtiff": NewNDTiff, "tiff": NewTIFF, "zarr": NewZarr}
