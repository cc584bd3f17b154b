//go:build cgo

package doctor

import (
	"context"

	"driftscope/ingest/camera"
)

// support says what of the camera kinds this computer can read.
func support() []string { return camera.Support() }

// networked lists the cameras that Aravis finds, on the network and on USB.
func networked(ctx context.Context) []string { return camera.Cameras(ctx) }
