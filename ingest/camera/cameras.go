package camera

/*
#cgo pkg-config: opencv4
#cgo CXXFLAGS: -std=c++11
#include <stdlib.h>
#include "build.h"
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Support returns lines that describe which kinds of cameras this computer can read.
func Support() []string {
	text := C.driftscope_opencv_build()
	defer C.free(unsafe.Pointer(text))
	lines := support(C.GoString(text))
	if hasElement("aravissrc") {
		return append(lines, "genicam: Aravis' GStreamer source is installed")
	}
	return append(lines, "genicam: no, Aravis' GStreamer source is missing: apt-get install libaravis-0.8-0")
}

// support returns lines about cameras and network streams, from the description of OpenCV's build.
func support(build string) []string {
	var lines []string
	for line := range strings.Lines(build) {
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		kind := map[string]string{"v4l/v4l2": "camera", "FFMPEG": "url"}[name]
		value = strings.ToLower(strings.TrimSpace(value))
		switch {
		case found && kind == "url":
			lines = append(lines, fmt.Sprintf("url: H.264, H.265 and MJPEG over RTSP, MJPEG over HTTP; other videos on a server by OpenCV's %s: %s", name, value))
		case found && kind != "":
			lines = append(lines, fmt.Sprintf("%s: OpenCV's %s: %s", kind, name, value))
		}
	}
	slices.Sort(lines)
	return lines
}

// arvTool lists GenICam cameras; it comes with Debian's aravis-tools-cli.
const arvTool = "arv-tool-0.8"

// Cameras lists the cameras connected now, each in the form that Guess accepts plus a description. It searches the network
// for a few seconds at most.
func Cameras(ctx context.Context) []string {
	var found []string
	devices, _ := filepath.Glob("/sys/class/video4linux/video*") // the pattern is well-formed
	for _, device := range devices {
		name, err := os.ReadFile(filepath.Join(device, "name"))
		if err != nil {
			continue
		}
		number := strings.TrimPrefix(filepath.Base(device), "video")
		found = append(found, fmt.Sprintf("camera:%s  %s", number, strings.TrimSpace(string(name))))
	}
	slices.Sort(found)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, arvTool)
	command.WaitDelay = time.Second
	out, err := command.Output()
	if err != nil {
		return found
	}
	return append(found, genicamCameras(string(out))...)
}

// genicamCameras parses the output of arv-tool. Each line is a name and an address in brackets. Without cameras the output is a sentence.
func genicamCameras(list string) []string {
	var found []string
	for line := range strings.Lines(list) {
		name, address, bracket := strings.Cut(strings.TrimSpace(line), " (")
		if bracket && cameraName.MatchString(name) && strings.HasSuffix(address, ")") {
			found = append(found, fmt.Sprintf("genicam:%s  at %s", name, strings.TrimSuffix(address, ")")))
		}
	}
	return found
}
