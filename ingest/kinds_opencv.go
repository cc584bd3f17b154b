//go:build cgo

package ingest

import (
	"context"

	"driftscope/ingest/camera"
	"driftscope/ingest/child"
	"driftscope/ingest/files"
)

// The sources that need OpenCV, GStreamer or Aravis. Each camera runs in its own process.
var (
	newCamera    = child.Apart("camera", camera.NewCamera)
	newGenICam   = child.Apart("genicam", camera.NewGenICam)
	newGStreamer = child.Apart("gst", camera.NewGStreamer)
	newURL       = child.Apart("url", camera.NewURL)
	newVideo     = files.NewVideo
)

// Lacks reports whether a kind is known but missing from this build.
func Lacks(string) bool { return false }

// CaptureProcess runs the hidden command with which this program starts a source's child process.
func CaptureProcess(ctx context.Context) error { return child.ServeProcess(ctx, New) }
