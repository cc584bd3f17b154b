//go:build cgo

package ingest

import (
	"context"

	"driftscope/ingest/camera"
	"driftscope/ingest/child"
	"driftscope/ingest/files"
)

// The sources that OpenCV, GStreamer or Aravis read: cameras in a process of their own each.
var (
	newCamera    = child.Apart("camera", camera.NewCamera)
	newGenICam   = child.Apart("genicam", camera.NewGenICam)
	newGStreamer = child.Apart("gst", camera.NewGStreamer)
	newURL       = child.Apart("url", camera.NewURL)
	newVideo     = files.NewVideo
)

// Lacks says whether a kind of source is known and not in this build.
func Lacks(string) bool { return false }

// CaptureProcess is the hidden command under which this program is started again for a source that works in a child process.
func CaptureProcess(ctx context.Context) error { return child.ServeProcess(ctx, New) }
