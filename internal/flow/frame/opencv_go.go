//go:build !cgo

package frame

// OpenCV returns the version of the library that the program is built with; empty if it is built without.
func OpenCV() string { return "" }
