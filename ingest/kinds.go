package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"driftscope/ingest/files"
	"driftscope/ingest/natsource"
	"driftscope/ingest/recorder"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/console"
)

// constructor makes one kind of source from its options. decode is strict: an unknown key is an error.
type constructor = func(decode func(dst any) error) (pipeline.Source, error)

// kinds is the only list of sources. A new source needs its file, its test and one line here. Sources that need OpenCV are
// functions of kinds_opencv.go and return an error in a build without it.
var kinds = map[string]constructor{
	"camera":    newCamera,
	"czi":       files.NewCZI,
	"directory": files.NewDirectory,
	"fits":      files.NewFITS,
	"genicam":   newGenICam,
	"gst":       newGStreamer,
	"hdf5":      files.NewHDF5,
	"nats":      natsource.New,
	"nd2":       files.NewND2,
	"ndtiff":    files.NewNDTiff,
	"recording": recorder.NewReplay,
	"sim":       newSimulated,
	"tiff":      files.NewTIFF,
	"url":       newURL,
	"video":     newVideo,
	"zarr":      files.NewZarr,
}

// New makes a source of the given kind. decode fills the options of the kind. New checks them but opens no file; Open does.
func New(kind string, decode func(dst any) error) (pipeline.Source, error) {
	construct, known := kinds[kind]
	if !known {
		return nil, console.About(console.ConfigurationPage, fmt.Errorf("source kind %q is not known: give one of %s", kind, strings.Join(Kinds(), ", ")))
	}
	source, err := construct(decode)
	if err != nil {
		return nil, console.About(Page(kind), fmt.Errorf("source %s: %w", kind, err))
	}
	return source, nil
}

// Page returns a longer description of a kind.
func Page(kind string) string {
	switch kind {
	case "camera", "genicam", "gst", "url":
		return console.CamerasPage
	case "nats":
		return console.FramesPage
	case "sim":
		return console.ConfigurationPage
	}
	return console.RecordingsPage
}

// Kinds returns the names New knows, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
