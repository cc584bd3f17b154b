// Package bounded reads parts of recordings and unpacks them. It never allocates more memory than the file's size or the caller allows, whatever numbers the
// file contains.
//
// axes.go and pictures.go make pictures from chunked arrays of several axes, as stored by Zarr and HDF5.
package bounded
