//go:build !cgo

package files

import "driftscope/ingest/child"

// kinds are the sources of this package without OpenCV.
var kinds = map[string]child.Constructor{"czi": NewCZI, "directory": NewDirectory, "fits": NewFITS, "hdf5": NewHDF5, "nd2": NewND2, "ndtiff": NewNDTiff, "tiff": NewTIFF, "zarr": NewZarr}
