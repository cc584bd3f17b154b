// Package bounded reads parts of recordings and unpacks them. No number in a file makes it allocate more memory than the file
// or the caller allows.
//
// axes.go and pictures.go make pictures from chunked arrays of several axes, as stored by Zarr and HDF5.
package bounded
