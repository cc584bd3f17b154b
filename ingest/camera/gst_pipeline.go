package camera

/*
#cgo pkg-config: gstreamer-1.0 gstreamer-app-1.0 gstreamer-video-1.0
#include <stdlib.h>
#include "gst_pipeline.h"
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

// rawFormat is the memory layout of a frame's pixels.
type rawFormat int

// The formats that Pull returns. Any other format is an error.
const (
	gray8  rawFormat = iota + 1 // 1 byte a pixel
	gray16                      // 2 bytes, low byte first
	bgr                         // 3 bytes
)

// Bytes is the length of a pixel.
func (f rawFormat) Bytes() int { return [...]int{0, 1, 2, 3}[f] }

// errNothing reports that no frame came in time, which is not a failure of the pipeline.
var errNothing = errors.New("no frame came in time")

// rawPicture is a frame in GStreamer's memory, valid until the next Pull or Close.
type rawPicture struct {
	Format        rawFormat
	Width, Height int
	PTS           time.Duration // presentation time stamp; negative if the buffer has none
	Rate          float64       // frames per second from the caps; 0 if unknown

	data   unsafe.Pointer
	stride int
	raw    []byte
}

// Raw returns all bytes of the buffer, regardless of its caps. They are valid until the next Pull or Close.
func (p rawPicture) Raw() []byte { return p.raw }

// gstPipeline is a running pipeline. Use it from one goroutine.
type gstPipeline struct{ c *C.driftscope_gst }

// openPipeline starts a pipeline from a description in the syntax of gst-launch-1.0, which must end in an appsink. The error is one
// line from GStreamer. Many elements report errors later, through Pull.
func openPipeline(description string) (*gstPipeline, error) {
	if strings.ContainsRune(description, 0) {
		return nil, errors.New("the pipeline's description contains a zero byte")
	}
	p := &gstPipeline{(*C.driftscope_gst)(C.calloc(1, C.sizeof_driftscope_gst))}
	text := C.CString(description)
	defer C.free(unsafe.Pointer(text))
	if problem := C.driftscope_gst_open(p.c, text); problem != nil {
		defer p.Close()
		return nil, errors.New(line(problem))
	}
	return p, nil
}

// line takes ownership of a GLib string and returns it as one line.
func line(text *C.char) string {
	defer C.g_free(C.gpointer(text))
	return strings.Join(strings.Fields(C.GoString(text)), " ")
}

// Pull waits for the next frame, and returns ErrNothing after timeout. At the end of the stream it returns io.EOF.
func (p *gstPipeline) Pull(timeout time.Duration) (rawPicture, error) {
	var text *C.char
	switch C.driftscope_gst_pull(p.c, C.guint64(max(timeout, 0)), &text) {
	case C.DRIFTSCOPE_GST_NOTHING:
		return rawPicture{}, errNothing
	case C.DRIFTSCOPE_GST_ENDED:
		return rawPicture{}, io.EOF
	case C.DRIFTSCOPE_GST_FAILED:
		return rawPicture{}, errors.New(line(text))
	}
	return p.picture()
}

// picture describes the mapped frame.
func (p *gstPipeline) picture() (rawPicture, error) {
	frame := &p.c.picture
	info := &frame.info
	formats := map[C.GstVideoFormat]rawFormat{C.GST_VIDEO_FORMAT_GRAY8: gray8, C.GST_VIDEO_FORMAT_GRAY16_LE: gray16, C.GST_VIDEO_FORMAT_BGR: bgr}
	format, known := formats[info.finfo.format]
	if !known {
		return rawPicture{}, fmt.Errorf("pixels have format %s, GRAY8, GRAY16_LE or BGR expected", C.GoString(info.finfo.name))
	}
	out := rawPicture{
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
		return rawPicture{}, fmt.Errorf("a frame of %dx%d pixels has rows of %d bytes", out.Width, out.Height, out.stride)
	}
	return out, nil
}

// CopyTo writes the pixels to dst, row by row without gaps. dst holds exactly Width*Height*Format.Bytes() bytes.
func (p rawPicture) CopyTo(dst []byte) error {
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

// Close stops the pipeline. Repeated calls are safe.
func (p *gstPipeline) Close() {
	if p.c == nil {
		return
	}
	C.driftscope_gst_close(p.c)
	C.free(unsafe.Pointer(p.c))
	p.c = nil
}

// hasElement reports whether an element, such as aravissrc, is installed. GStreamer may scan its plugins first, which takes seconds.
func hasElement(element string) bool {
	name := C.CString(element)
	defer C.free(unsafe.Pointer(name))
	return C.driftscope_gst_has(name) != 0
}
