//go:build !cgo

package main

import "context"

// steps: without OpenCV there are none.
func steps() []string { return nil }

// machine says what this build is.
func machine(context.Context) []string {
	return []string{"built without OpenCV: it publishes, watches and asks; docs/howto/desk.md"}
}
