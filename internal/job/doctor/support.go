//go:build cgo

package doctor

import (
	"context"

	"driftscope/ingest/camera"
)

// support lists the kinds of camera that this computer can read.
func support() []string { return camera.Support() }

// networked lists the cameras that Aravis finds, on the network and on USB.
func networked(ctx context.Context) []string { return camera.Cameras(ctx) }
