package picture

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

// The environment variables that make OpenCV and FFmpeg print. If one is set, the output stays visible.
const (
	opencvLevel = "OPENCV_LOG_LEVEL"
	ffmpegLevel = "OPENCV_FFMPEG_LOGLEVEL"
	ffmpegDebug = "OPENCV_FFMPEG_DEBUG"
)

// keepPrinted captures the output of OpenCV and FFmpeg, from its first call on, instead of letting it reach standard error.
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

// printed is one line of library output.
type printed [256]C.char

func (p *printed) String() string { return C.GoString(&p[0]) }

// opened calls open and returns the first FFmpeg error of the calling thread during this call.
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

// watched counts the open videos. FFmpeg errors do not name their video.
var watched atomic.Int32

// Video collects the errors that FFmpeg reports while a video is open. The zero value is a closed video.
type Video struct {
	open    bool // counted in watched
	damaged bool // the warning was given
}

// Open calls open and returns the first FFmpeg error during the call. It discards earlier errors, which belong to no open video.
func (p *Video) Open(open func()) string {
	keepPrinted()
	if watched.Add(1) == 1 {
		Complained()
	}
	p.open = true
	return opened(open)
}

// Damage returns, once per video, the code and text of a warning about an FFmpeg error that did not stop the video.
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
		whose = "this or another video that is read at the same time"
	}
	return "damaged_video", fmt.Sprintf("FFmpeg reported errors in %s, first: %s: parts of pictures from here on may be wrong, record or copy it again", whose, line)
}

// Close removes the video from the count. Safe to call at any time.
func (p *Video) Close() {
	if p.open {
		p.open = false
		watched.Add(-1)
	}
}

// Complained returns the first FFmpeg error since the last call, from any thread and video.
func Complained() string {
	var line printed
	if C.driftscope_ffmpeg_said(0, &line[0], C.size_t(len(line))) == 0 {
		return ""
	}
	return line.String()
}

// Listened calls decode and returns the first line that C and C++ code printed during the call. libpng and libjpeg report errors in this way.
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

// Bracketed returns library output in brackets, for the middle of an error text, or "" if there is none.
func Bracketed(said string) string {
	if said == "" {
		return ""
	}
	return " (" + said + ")"
}
