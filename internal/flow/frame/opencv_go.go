//go:build !cgo

package frame

// OpenCV returns the version of the linked library, or "" in a build without it.
func OpenCV() string { return "" }
