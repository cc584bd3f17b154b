//go:build !cgo

package doctor

import "context"

// support returns nothing: this build has no OpenCV.
func support() []string { return nil }

// networked returns nothing: this build cannot read cameras.
func networked(context.Context) []string { return nil }
