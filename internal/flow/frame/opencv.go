//go:build cgo

package frame

import "gocv.io/x/gocv"

// OpenCV is the version of the library that the program is built with; empty where it is built without.
func OpenCV() string { return gocv.OpenCVVersion() }
