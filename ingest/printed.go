package ingest

/*
#cgo LDFLAGS: -ldl
#cgo noescape driftscope_ffmpeg_said
#cgo nocallback driftscope_ffmpeg_said
#cgo noescape driftscope_heard
#cgo nocallback driftscope_heard
#include "printed.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// The variables by which a person asks OpenCV for what it and FFmpeg print: then it is printed.
const (
	opencvLevel = "OPENCV_LOG_LEVEL"
	ffmpegLevel = "OPENCV_FFMPEG_LOGLEVEL"
	ffmpegDebug = "OPENCV_FFMPEG_DEBUG"
)

// keepPrinted keeps what OpenCV and FFmpeg print off standard error, from its first call on.
var keepPrinted = sync.OnceFunc(func() {
	if os.Getenv(opencvLevel) == "" {
		C.driftscope_keep_opencv()
	}
	if os.Getenv(ffmpegLevel) == "" && os.Getenv(ffmpegDebug) == "" {
		C.driftscope_keep_ffmpeg()
	} else {
		C.driftscope_print_lines()
	}
})

// printed is a line of a library's.
type printed [256]C.char

func (p *printed) String() string { return C.GoString(&p[0]) }

// opened calls open and returns the first of FFmpeg's errors in it: those that any one thread makes itself.
func opened(open func()) string {
	keepPrinted()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var line printed
	C.driftscope_ffmpeg_said(1, &line[0], C.size_t(len(line)))
	open()
	C.driftscope_ffmpeg_said(1, &line[0], C.size_t(len(line)))
	return line.String()
}

// watched counts the videos that are open, among which FFmpeg's errors cannot be told apart.
var watched atomic.Int32

// watch begins to count what FFmpeg complains of. What it said before is of no video that is open.
func watch() {
	keepPrinted()
	if watched.Add(1) == 1 {
		complained()
	}
}

// complained returns the first of FFmpeg's errors since the last call, whichever thread and video they were of.
func complained() string {
	var line printed
	if C.driftscope_ffmpeg_said(0, &line[0], C.size_t(len(line))) == 0 {
		return ""
	}
	return line.String()
}

// listened calls decode and returns the first line of what C and C++ printed in it. libpng and libjpeg know no other way.
func listened(decode func()) string {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.driftscope_listen()
	decode()
	var line printed
	if C.driftscope_heard(&line[0], C.size_t(len(line))) == 0 {
		return ""
	}
	return line.String()
}

// damage is what FFmpeg complained of in a video that it goes on with, as a warning's code and text, once: told says that it was.
func damage(told *bool) (code, text string) {
	if *told {
		return "", ""
	}
	line := complained()
	if line == "" {
		return "", ""
	}
	*told = true
	whose := "this video"
	if watched.Load() > 1 {
		whose = "this or another video that is read beside it"
	}
	return "damaged_video", fmt.Sprintf("FFmpeg complained of %s, first of: %s: pictures from here on may be wrong in part, record or copy it again", whose, line)
}

// bracketed is what a library said, for the middle of an error.
func bracketed(said string) string {
	if said == "" {
		return ""
	}
	return " (" + said + ")"
}
