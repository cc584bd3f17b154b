package main

import (
	"context"
	"fmt"
	"strings"

	"driftscope/ingest"
	"driftscope/internal/kit/console"
	"driftscope/sinks"
)

// sourcesCmd lists the kinds of sources, steps and sinks in this build.
type sourcesCmd struct{}

// about describes the argument of each kind of source in one line.
var about = map[string]string{
	"camera":    "a webcam or frame grabber: camera:0 for /dev/video0",
	"czi":       "a CZI file from Zeiss ZEN, uncompressed or Zstandard: one channel and slice, czi:FILE?channel=2&slice=1; times from the file, --dt or --fps",
	"directory": "pictures in a folder or matching a pattern such as 'run1/*.png'; times from frames.csv in their folder, --dt or --fps",
	"fits":      "a FITS picture or cube: 8, 16 or 32 bits or floats; times from its cycle time (KCT), --dt or --fps",
	"genicam":   "a GigE Vision or USB3 Vision camera: genicam:NAME, or genicam:any; 8 to 16 bits; times and lost frames from its own clock",
	"gst":       "any GStreamer pipeline: 'gst:v4l2src ! videoconvert'",
	"hdf5":      "a dataset of 3 to 5 axes in an HDF5 file (also MATLAB 7.3): h5:FILE?dataset=/data&axes=tcyx&channel=2; --dt or --fps",
	"nats":      "frames from another program or, with run --places, object positions: nats:SUBJECT, or nats://host:port/SUBJECT; see docs/howto/frames.md and driftscope publish",
	"nd2":       "an ND2 file from Nikon NIS-Elements, version 3: one channel and slice, nd2:FILE?channel=2&slice=1; times from the pictures, --dt or --fps",
	"ndtiff":    "one image series from an NDTiff 2 or 3 folder of Micro-Manager, ndtiff:FOLDER?channel=DAPI&z=3; times from the images, --dt or --fps",
	"recording": "a folder or .zarr from run --record, with the recorded frames, numbers and times",
	"sim":       "a simulation: sim:NAME, one of the names below, or sim:NAME?seed=7&frames=1000; a field of many objects also takes density, snr, width and height",
	"tiff":      "a TIFF of one or more pages: 8 or 16 bits or float32, both byte orders, BigTIFF; one channel and slice of a hyperstack, tiff:FILE?channel=2&slice=1; time step from its description, --dt or --fps",
	"url":       "a network camera or a video on a server: rtsp://, http:// or https://",
	"video":     "formats that OpenCV reads: .mp4, .avi, .mov, ...; 8 bits; give --dt or --fps if the file's rate is only for playback",
	"zarr":      "an OME-Zarr store, v2 or v3: one channel, slice and resolution, zarr:STORE?channel=2&slice=1&level=0; time step from its metadata, --dt or --fps",
}

// Run prints the kinds, the camera support of this computer, and the cameras that it finds.
func (sourcesCmd) Run(ctx context.Context) error {
	fmt.Println("sources")
	for _, kind := range ingest.Kinds() {
		if ingest.Lacks(kind) {
			fmt.Printf("  %-12s not in this build: %s\n", kind, console.Located(about[kind]))
		} else {
			fmt.Printf("  %-12s %s\n", kind, console.Located(about[kind]))
		}
	}
	fmt.Println("directory, ndtiff, tiff, zarr and video (MKV, MPEG-TS) can be followed while they are written, with --follow and --until-idle 30s")
	fmt.Println("simulations\n  " + strings.Join(ingest.Simulations(), ", "))
	for _, line := range steps() {
		fmt.Println(line)
	}
	fmt.Println("sinks\n  " + strings.Join(sinks.Kinds(), ", "))
	for _, line := range machine(ctx) {
		fmt.Println(line)
	}
	return nil
}
