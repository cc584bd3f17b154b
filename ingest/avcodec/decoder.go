// Package avcodec decodes H.264 and H.265, an access unit at a time, by FFmpeg's libavcodec, which OpenCV is linked with. OpenCV itself gives the pictures
// of files and streams only: neither which time stamp is of which picture nor whether one was decoded whole.
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

// Codec is how pictures are coded.
type Codec int

// The codecs that are decoded.
const (
	H264 Codec = iota + 1
	H265
)

// ErrMore says that the decoder wants another access unit before it gives a picture.
var ErrMore = errors.New("another access unit is wanted")

// Decoder belongs to one goroutine.
type Decoder struct{ c *C.driftscope_decoder }

// Picture is the last that was received, in the decoder's memory, good until the next call.
type Picture struct {
	Width, Height int
	Bits          int           // of a sample, 0 where they are not known
	Stamp         time.Duration // of the access unit that it came from
	Whole         bool          // no error in it, nor in those it is made from as far as FFmpeg knows

	decoder *C.driftscope_decoder
}

// Open makes a decoder of pictures of at most so many pixels.
func Open(codec Codec, pixels int) (*Decoder, error) {
	d := &Decoder{(*C.driftscope_decoder)(C.calloc(1, C.sizeof_driftscope_decoder))}
	h265 := C.int(0)
	if codec == H265 {
		h265 = 1
	}
	if code := C.driftscope_decoder_open(d.c, h265, C.int64_t(pixels)); code < 0 {
		defer d.Close()
		return nil, fmt.Errorf("FFmpeg's decoder does not open: %w", failure(code))
	}
	return d, nil
}

// failure is the text of one of FFmpeg's errors.
func failure(code C.int) error {
	var text [64]C.char
	if C.av_strerror(code, &text[0], C.size_t(len(text))) < 0 {
		return fmt.Errorf("error %d", int(code))
	}
	return errors.New(C.GoString(&text[0]))
}

// Send gives an access unit, its NAL units each behind a start code (ITU-T H.264, Annex B). An empty one says that no more come until Flush, so that
// the pictures that wait for their turn can be received.
func (d *Decoder) Send(unit []byte, stamp time.Duration) error {
	code := C.driftscope_decoder_send(d.c, (*C.uint8_t)(unsafe.SliceData(unit)), C.int(len(unit)), C.int64_t(stamp))
	if code < 0 {
		return failure(code)
	}
	return nil
}

// Receive takes the next picture in the order of their times; ErrMore where there is none yet.
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

// CopyTo writes blue, green and red, a byte each, row after row, to dst, which holds exactly 3*Width*Height bytes.
func (p Picture) CopyTo(dst []byte) error {
	if len(dst) == 0 || len(dst) != 3*p.Width*p.Height {
		return fmt.Errorf("%d bytes for a picture of %d", len(dst), 3*p.Width*p.Height)
	}
	if code := C.driftscope_decoder_bgr(p.decoder, (*C.uint8_t)(&dst[0])); code < 0 {
		return fmt.Errorf("FFmpeg does not convert the picture: %w", failure(code))
	}
	return nil
}

// Flush forgets all pictures: the next access unit is the first of a stream.
func (d *Decoder) Flush() { C.driftscope_decoder_flush(d.c) }

// Close frees the decoder. It may be called more than once.
func (d *Decoder) Close() {
	if d.c == nil {
		return
	}
	C.driftscope_decoder_close(d.c)
	C.free(unsafe.Pointer(d.c))
	d.c = nil
}
