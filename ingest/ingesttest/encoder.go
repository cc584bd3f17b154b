package ingesttest

/*
#cgo pkg-config: libavcodec libavutil
#include <stdlib.h>
#include "encoder.h"
*/
import "C"

import (
	"testing"
	"unsafe"

	"driftscope/ingest/avcodec"
)

// Unit is an access unit with start codes.
type Unit struct {
	Data   []byte
	Number int // picture number
	Key    bool
}

// Stream describes how pictures are coded. Every GOP-th picture is a key frame. With reordering, two of three pictures are B-frames.
type Stream struct {
	Codec     avcodec.Codec
	GOP       int
	Reordered bool
}

// Encode codes the first n pictures, in the order in which a camera sends them.
func (s Stream) Encode(t testing.TB, n int) []Unit {
	t.Helper()
	e := (*C.driftscope_encoder)(C.calloc(1, C.sizeof_driftscope_encoder))
	defer C.free(unsafe.Pointer(e))
	defer C.driftscope_encoder_close(e)
	var h265, reordered C.int
	if s.Codec == avcodec.H265 {
		h265 = 1
	}
	if s.Reordered {
		reordered = 1
	}
	if wrong := C.driftscope_encoder_open(e, h265, Width, Height, C.int(s.GOP), reordered); wrong != nil {
		t.Fatal(C.GoString(wrong))
	}
	var units []Unit
	for i := range n + 1 {
		var grey *C.uint8_t // nil at the end
		if i < n {
			grey = (*C.uint8_t)(unsafe.SliceData(CodedPicture(i)))
		}
		if code := C.driftscope_encoder_send(e, grey, C.int64_t(i)); code < 0 {
			t.Fatalf("picture %d cannot be coded: error %d", i, int(code))
		}
		for C.driftscope_encoder_receive(e) == 1 {
			p := e.packet
			units = append(units, Unit{Data: C.GoBytes(unsafe.Pointer(p.data), p.size), Number: int(p.pts), Key: p.flags&C.AV_PKT_FLAG_KEY != 0})
		}
	}
	if len(units) != n {
		t.Fatalf("%d access units of %d pictures", len(units), n)
	}
	return units
}
