//go:build !cgo

package doctor

import "context"

// support returns nothing: this build has no OpenCV.
func support() []string { return nil }

// networked returns nothing: this build has no camera.
func networked(context.Context) []string { return nil }
