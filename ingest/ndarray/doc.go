// Package ndarray makes pictures from chunked arrays of several axes, as stored by Zarr and HDF5.
package ndarray
