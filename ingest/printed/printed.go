package printed

/*
#cgo pkg-config: opencv4
#cgo CXXFLAGS: -std=c++11
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

// watched counts the videos that are open: FFmpeg's errors cannot be told apart among them.
var watched atomic.Int32

// Video follows what FFmpeg complains of while one video is open. The zero value is of a video that is closed.
type Video struct {
	open    bool // counted in watched
	damaged bool // a warning was given
}

// Open calls open, and returns the first of FFmpeg's errors in it. What FFmpeg said before is of no video that is open.
func (p *Video) Open(open func()) string {
	keepPrinted()
	if watched.Add(1) == 1 {
		Complained()
	}
	p.open = true
	return opened(open)
}

// Damage is a complaint of FFmpeg's about a video that it goes on with, as the code and text of a warning, once for a video.
func (p *Video) Damage() (code, text string) {
	if p.damaged {
		return "", ""
	}
	line := Complained()
	if line == "" {
		return "", ""
	}
	p.damaged = true
	whose := "this video"
	if watched.Load() > 1 {
		whose = "this or another video that is read beside it"
	}
	return "damaged_video", fmt.Sprintf("FFmpeg complained of %s, first of: %s: pictures from here on may be wrong in part, record or copy it again", whose, line)
}

// Close ends the counting; it may be called at any time.
func (p *Video) Close() {
	if p.open {
		p.open = false
		watched.Add(-1)
	}
}

// Complained returns the first of FFmpeg's errors since the last call, whichever thread and video they were of.
func Complained() string {
	var line printed
	if C.driftscope_ffmpeg_said(0, &line[0], C.size_t(len(line))) == 0 {
		return ""
	}
	return line.String()
}

// Listened calls decode and returns the first line of what C and C++ printed in it, which is how libpng and libjpeg complain.
func Listened(decode func()) string {
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

// Bracketed is what a library said, for the middle of an error.
func Bracketed(said string) string {
	if said == "" {
		return ""
	}
	return " (" + said + ")"
}
