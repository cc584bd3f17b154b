//go:build !cgo

package frame

// OpenCV is the version of the library that the program is built with; empty where it is built without.
func OpenCV() string { return "" }
