//go:build cgo

package main

import (
	"context"
	"strings"

	"driftscope/ingest/camera"
	"driftscope/internal/flow/frame"
	"driftscope/internal/kit/console"
	"driftscope/preprocess"
)

// steps returns the kinds of preprocessing.
func steps() []string { return []string{"steps", "  " + strings.Join(preprocess.Kinds(), ", ")} }

// machine returns the camera support of this computer, and the cameras that it finds.
func machine(ctx context.Context) []string {
	lines := []string{"built with OpenCV " + frame.OpenCV()}
	for _, line := range camera.Support() {
		lines = append(lines, "  "+line)
	}
	lines = append(lines, "cameras found")
	found := camera.Cameras(ctx)
	if len(found) == 0 {
		return append(lines, "  none; "+console.Located("docs/howto/cameras.md")+" lists checks, and driftscope doctor reports missing parts")
	}
	for _, camera := range found {
		lines = append(lines, "  "+camera)
	}
	return lines
}
