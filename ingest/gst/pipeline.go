// Package gst reads raw video from GStreamer pipelines. OpenCV can, too, but it gives neither the time of the frame that it gives, only
// that of the newest in the pipeline, nor why a pipeline does not start; and its waiting has no end.
package gst

/*
#cgo pkg-config: gstreamer-1.0 gstreamer-app-1.0 gstreamer-video-1.0
#include <stdlib.h>
#include "pipeline.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unsafe"
)

// Format is how a frame's pixels lie in memory.
type Format int

// The formats that Pull gives; others are an error.
const (
	Gray8  Format = iota + 1 // 1 byte a pixel
	Gray16                   // 2 bytes, the low one first
	BGR                      // 3 bytes
)

// Bytes is the length of a pixel.
func (f Format) Bytes() int { return [...]int{0, 1, 2, 3}[f] }

// ErrNothing says that no frame came in time, which is no fault of the pipeline's.
var ErrNothing = errors.New("no frame came in time")

// Picture is a frame in GStreamer's memory, good until the next Pull or Close.
type Picture struct {
	Format        Format
	Width, Height int
	PTS           time.Duration // presentation time stamp; negative where the buffer has none
	Rate          float64       // frames a second as the caps say, 0 where they do not

	data   unsafe.Pointer
	stride int
	raw    []byte
}

// Raw are all bytes of the buffer, whatever its caps say that it holds: good until the next Pull or Close.
func (p Picture) Raw() []byte { return p.raw }

// Pipeline is a running pipeline. It belongs to one goroutine.
type Pipeline struct{ c *C.driftscope_gst }

// Open starts the pipeline of a description in the syntax of gst-launch-1.0, which must end in an appsink. The error is GStreamer's, one
// line. Many elements say what is wrong later, to Pull.
func Open(description string) (*Pipeline, error) {
	if strings.ContainsRune(description, 0) {
		return nil, errors.New("a pipeline with a zero byte in it")
	}
	p := &Pipeline{(*C.driftscope_gst)(C.calloc(1, C.sizeof_driftscope_gst))}
	text := C.CString(description)
	defer C.free(unsafe.Pointer(text))
	if problem := C.driftscope_gst_open(p.c, text); problem != nil {
		defer p.Close()
		return nil, errors.New(line(problem))
	}
	return p, nil
}

// line takes a text of GLib's and makes it one line.
func line(text *C.char) string {
	defer C.g_free(C.gpointer(text))
	return strings.Join(strings.Fields(C.GoString(text)), " ")
}

// Pull waits for the next frame, at most for timeout: then it is ErrNothing. At the end of the stream it is io.EOF.
func (p *Pipeline) Pull(timeout time.Duration) (Picture, error) {
	var text *C.char
	switch C.driftscope_gst_pull(p.c, C.guint64(max(timeout, 0)), &text) {
	case C.DRIFTSCOPE_GST_NOTHING:
		return Picture{}, ErrNothing
	case C.DRIFTSCOPE_GST_ENDED:
		return Picture{}, io.EOF
	case C.DRIFTSCOPE_GST_FAILED:
		return Picture{}, errors.New(line(text))
	}
	return p.picture()
}

// picture describes the frame that is mapped.
func (p *Pipeline) picture() (Picture, error) {
	frame := &p.c.picture
	info := &frame.info
	formats := map[C.GstVideoFormat]Format{C.GST_VIDEO_FORMAT_GRAY8: Gray8, C.GST_VIDEO_FORMAT_GRAY16_LE: Gray16, C.GST_VIDEO_FORMAT_BGR: BGR}
	format, known := formats[info.finfo.format]
	if !known {
		return Picture{}, fmt.Errorf("pixels of format %s, GRAY8, GRAY16_LE or BGR expected", C.GoString(info.finfo.name))
	}
	out := Picture{
		Format: format, Width: int(info.width), Height: int(info.height), PTS: -1,
		data: unsafe.Pointer(frame.data[0]), stride: int(info.stride[0]),
		raw: unsafe.Slice((*byte)(frame._map[0].data), int(frame._map[0].size)),
	}
	if pts := frame.buffer.pts; pts <= 1<<62 { // GST_CLOCK_TIME_NONE is the largest
		out.PTS = time.Duration(pts)
	}
	if info.fps_n > 0 && info.fps_d > 0 {
		out.Rate = float64(info.fps_n) / float64(info.fps_d)
	}
	if row := out.Width * format.Bytes(); out.Width < 1 || out.Height < 1 || out.stride < row {
		return Picture{}, fmt.Errorf("a frame of %dx%d pixels in rows of %d bytes", out.Width, out.Height, out.stride)
	}
	return out, nil
}

// CopyTo writes the pixels, row after row without gaps, to dst, which holds exactly Width*Height*Format.Bytes() bytes.
func (p Picture) CopyTo(dst []byte) error {
	row := p.Width * p.Format.Bytes()
	if len(dst) != row*p.Height {
		return fmt.Errorf("%d bytes for a frame of %d", len(dst), row*p.Height)
	}
	if row == p.stride {
		copy(dst, unsafe.Slice((*byte)(p.data), len(dst)))
		return nil
	}
	for y := range p.Height {
		copy(dst[y*row:][:row], unsafe.Slice((*byte)(unsafe.Add(p.data, y*p.stride)), row))
	}
	return nil
}

// Close stops the pipeline. It may be called more than once.
func (p *Pipeline) Close() {
	if p.c == nil {
		return
	}
	C.driftscope_gst_close(p.c)
	C.free(unsafe.Pointer(p.c))
	p.c = nil
}

// Has says whether an element, such as aravissrc, is installed. GStreamer may look through its plugins first, which takes seconds.
func Has(element string) bool {
	name := C.CString(element)
	defer C.free(unsafe.Pointer(name))
	return C.driftscope_gst_has(name) != 0
}
