//go:build cgo

package frame

import "gocv.io/x/gocv"

// OpenCV returns the version of the linked library, or "" in a build without it.
func OpenCV() string { return gocv.OpenCVVersion() }
