package camera

import (
	"encoding/binary"
	"fmt"
)

// packing describes how grey values of more than 8 bits are packed (EMVA PFNC 2.4): the bits per pixel, and the bytes and
// pixels of one group.
type packing struct {
	bits          int
	bytes, pixels int
	unpack        func(dst []uint16, group []byte)
}

// The packed formats, by GenICam's name. Older GigE Vision formats store the lower bits of two pixels in the byte between them.
var packings = map[string]*packing{
	"Mono10p": {10, 5, 4, func(dst []uint16, b []byte) {
		v := uint64(binary.LittleEndian.Uint32(b)) | uint64(b[4])<<32
		for i := range dst {
			dst[i] = uint16(v >> (10 * i) & 0x3ff)
		}
	}},
	"Mono12p": {12, 3, 2, func(dst []uint16, b []byte) {
		dst[0], dst[1] = uint16(b[0])|uint16(b[1]&0xf)<<8, uint16(b[1]>>4)|uint16(b[2])<<4
	}},
	"Mono10Packed": {12, 3, 2, func(dst []uint16, b []byte) {
		dst[0], dst[1] = uint16(b[0])<<2|uint16(b[1]&3), uint16(b[2])<<2|uint16(b[1]>>4&3)
	}},
	"Mono12Packed": {12, 3, 2, func(dst []uint16, b []byte) {
		dst[0], dst[1] = uint16(b[0])<<4|uint16(b[1]&0xf), uint16(b[2])<<4|uint16(b[1]>>4)
	}},
}

// open unpacks a picture to dst. It rejects rows whose length is not a multiple of four bytes, because the position of Aravis' padding is unknown.
func (k *packing) open(dst []uint16, p rawPicture) error {
	raw := p.Raw()
	if p.Width*k.bits%32 != 0 {
		return fmt.Errorf("packed rows have %d pixels, a multiple of 16 expected: set a region of such a width", p.Width)
	}
	if len(dst) != p.Width*p.Height || len(raw) < len(dst)*k.bits/8 {
		return fmt.Errorf("a packed picture of %dx%d pixels has %d bytes, %d expected", p.Width, p.Height, len(raw), p.Width*p.Height*k.bits/8)
	}
	group := k.bytes
	for len(dst) > 0 {
		k.unpack(dst[:k.pixels], raw[:group])
		dst, raw = dst[k.pixels:], raw[group:]
	}
	return nil
}
