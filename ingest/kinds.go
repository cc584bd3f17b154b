package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"driftscope/ingest/camera"
	"driftscope/ingest/child"
	"driftscope/ingest/files"
	"driftscope/ingest/natsource"
	"driftscope/ingest/recorder"
	"driftscope/internal/pipeline"
)

// kinds is the only list of sources: a new one is its file, its test and one line here.
var kinds = map[string]child.Constructor{
	"camera":    child.Apart("camera", camera.NewCamera),
	"directory": files.NewDirectory,
	"fits":      files.NewFITS,
	"genicam":   child.Apart("genicam", camera.NewGenICam),
	"gst":       child.Apart("gst", camera.NewGStreamer),
	"nats":      natsource.New,
	"ndtiff":    files.NewNDTiff,
	"recording": recorder.NewReplay,
	"sim":       newSimulated,
	"tiff":      files.NewTIFF,
	"url":       child.Apart("url", camera.NewURL),
	"video":     files.NewVideo,
}

// CaptureProcess is the hidden command under which this program is started again for a source that works in a child process.
func CaptureProcess(ctx context.Context) error { return child.ServeProcess(ctx, New) }

// New makes a source of the given kind. decode fills the kind's options; they are checked here, but no file is opened before Open.
func New(kind string, decode func(dst any) error) (pipeline.Source, error) {
	construct, known := kinds[kind]
	if !known {
		return nil, fmt.Errorf("source kind %q is not known: give one of %s", kind, strings.Join(Kinds(), ", "))
	}
	source, err := construct(decode)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", kind, err)
	}
	return source, nil
}

// Kinds returns the names New knows, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
