// Package avcodec decodes H.264 and H.265, one access unit at a time, with FFmpeg's libavcodec, which OpenCV already links. OpenCV's own reader decodes only
// files and streams, and it does not reveal the time stamp of a picture or whether the picture is whole.
//
// mpegts.go finds the end of the last whole picture of an MPEG transport stream (ISO/IEC 13818-1). A stream that is cut off, by a lost connection or because
// the recording continues, ends within a picture, and FFmpeg would decode the partial picture. A picture is one packet of the elementary stream (PES), carried
// by many transport packets of 188 bytes. It is whole if another picture begins after it. At the end of the stream, a picture is whole if it has its stated
// length, or if its last transport packet has stuffing, because only the last packet of a PES may have stuffing (2.4.3.5).
package avcodec

/*
#cgo pkg-config: libavcodec libavutil libswscale
#include <stdlib.h>
#include "decoder.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"
)

// Codec names a video coding.
type Codec int

// The supported codecs.
const (
	H264 Codec = iota + 1
	H265
)

// ErrMore reports that the decoder needs another access unit before it returns a picture.
var ErrMore = errors.New("FFmpeg's decoder needs another access unit")

// Decoder decodes one stream. Use it from one goroutine.
type Decoder struct{ c *C.driftscope_decoder }

// Picture is the picture received last. It lies in the decoder's memory and is valid until the next call.
type Picture struct {
	Width, Height int
	Bits          int           // per sample, 0 if unknown
	Stamp         time.Duration // time stamp of its access unit
	Whole         bool          // FFmpeg found no error in the picture or in the pictures that it depends on

	decoder *C.driftscope_decoder
}

// Open returns a decoder for pictures of at most the given number of pixels.
func Open(codec Codec, pixels int) (*Decoder, error) {
	d := &Decoder{(*C.driftscope_decoder)(C.calloc(1, C.sizeof_driftscope_decoder))}
	h265 := C.int(0)
	if codec == H265 {
		h265 = 1
	}
	if code := C.driftscope_decoder_open(d.c, h265, C.int64_t(pixels)); code < 0 {
		defer d.Close()
		return nil, fmt.Errorf("FFmpeg's decoder cannot be opened: %w", failure(code))
	}
	return d, nil
}

// failure returns the text of an FFmpeg error code.
func failure(code C.int) error {
	var text [64]C.char
	if C.av_strerror(code, &text[0], C.size_t(len(text))) < 0 {
		return fmt.Errorf("error %d", int(code))
	}
	return errors.New(C.GoString(&text[0]))
}

// Send passes an access unit to the decoder. In the unit, a start code precedes each NAL unit (ITU-T H.264, Annex B). An empty unit marks the end of the
// stream; Receive then returns the delayed pictures. Call Flush before sending again.
func (d *Decoder) Send(unit []byte, stamp time.Duration) error {
	code := C.driftscope_decoder_send(d.c, (*C.uint8_t)(unsafe.SliceData(unit)), C.int(len(unit)), C.int64_t(stamp))
	if code < 0 {
		return failure(code)
	}
	return nil
}

// Receive returns the next picture in display order, or ErrMore if there is none yet.
func (d *Decoder) Receive() (Picture, error) {
	switch code := C.driftscope_decoder_receive(d.c); {
	case code == C.DRIFTSCOPE_WANTS_MORE:
		return Picture{}, ErrMore
	case code < 0:
		return Picture{}, failure(code)
	}
	f := d.c.frame
	return Picture{
		Width: int(f.width), Height: int(f.height), Bits: int(C.driftscope_decoder_bits(d.c)),
		Stamp: time.Duration(f.pts), Whole: C.driftscope_decoder_whole(d.c) != 0, decoder: d.c,
	}, nil
}

// CopyTo writes the pixels to dst row by row, one byte each of blue, green and red. dst holds exactly 3*Width*Height bytes.
func (p Picture) CopyTo(dst []byte) error {
	if len(dst) == 0 || len(dst) != 3*p.Width*p.Height {
		return fmt.Errorf("the destination has %d bytes for a picture of %d", len(dst), 3*p.Width*p.Height)
	}
	if code := C.driftscope_decoder_bgr(p.decoder, (*C.uint8_t)(&dst[0])); code < 0 {
		return fmt.Errorf("FFmpeg cannot convert the picture: %w", failure(code))
	}
	return nil
}

// Flush drops all pictures in the decoder. The next access unit starts a new stream.
func (d *Decoder) Flush() { C.driftscope_decoder_flush(d.c) }

// Close frees the decoder. Repeated calls are safe.
func (d *Decoder) Close() {
	if d.c == nil {
		return
	}
	C.driftscope_decoder_close(d.c)
	C.free(unsafe.Pointer(d.c))
	d.c = nil
}
