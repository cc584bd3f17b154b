//go:build !cgo

package main

import "context"

// steps returns nil, because there are no steps without OpenCV.
func steps() []string { return nil }

// machine describes this build.
func machine(context.Context) []string {
	return []string{"built without OpenCV: this build publishes and watches, but does not track; see docs/howto/desk.md"}
}
