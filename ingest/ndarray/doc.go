// Package ndarray makes pictures of arrays of several axes that are stored in chunks, as Zarr and HDF5 store them.
package ndarray
