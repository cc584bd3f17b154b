package rtsp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// maxUnit bounds an access unit. A key frame of 16384 x 16384 pixels at one bit per pixel has 32 MiB.
const maxUnit = 32 << 20

// startCode begins a NAL unit (ITU-T H.264, Annex B).
var startCode = []byte{0, 0, 0, 1}

// nalUnit is an access unit under construction, in Annex B form.
type nalUnit struct {
	h265     bool
	data     []byte
	begun    int  // offset of the incomplete NAL unit; 0 for none
	pictures bool // the unit has a slice
	begins   bool // the unit's first slice is the first of its picture
	key      bool // decoding can begin here
	refresh  int  // number of pictures until an intra refresh is complete
	sets     bool // the unit has a sequence parameter set
}

// reset empties the unit without reusing its memory, which belongs to the unit returned before.
func (u *nalUnit) reset() { *u = nalUnit{h265: u.h265} }

// add splits a packet's payload: one NAL unit, several, or a part of one.
func (u *nalUnit) add(payload []byte) error {
	header := 1
	if u.h265 {
		header = 2
	}
	if len(payload) <= header {
		return fmt.Errorf("a packet of %d bytes", len(payload))
	}
	if len(u.data)+len(payload)+len(startCode) > maxUnit {
		return fmt.Errorf("an access unit of more than %d bytes", maxUnit)
	}
	kind := payload[0] & 0x1f
	single, several, part := kind >= 1 && kind <= 23, kind == 24, kind == 28
	if u.h265 {
		kind = payload[0] >> 1 & 0x3f
		single, several, part = kind < 48, kind == 48, kind == 49
	}
	if u.begun > 0 && !part {
		return errors.New("the end of a NAL unit is missing")
	}
	switch {
	case single:
		u.nal(payload)
		return nil
	case several:
		return u.aggregate(payload[header:])
	case part:
		return u.fragment(payload[:header], payload[header:])
	}
	return fmt.Errorf("packets of type %d are not supported", kind)
}

// nal adds a complete NAL unit.
func (u *nalUnit) nal(nal []byte) {
	u.data = append(append(u.data, startCode...), nal...)
	u.look(nal)
}

// aggregate adds the NAL units of a packet with several units, each preceded by its length.
func (u *nalUnit) aggregate(rest []byte) error {
	for len(rest) >= 2 {
		n := int(binary.BigEndian.Uint16(rest))
		rest = rest[2:]
		if n == 0 { // padding
			break
		}
		if n > len(rest) {
			return fmt.Errorf("a NAL unit of %d bytes in only %d bytes of packet", n, len(rest))
		}
		if n > 2 || !u.h265 {
			u.nal(rest[:n])
		}
		rest = rest[n:]
	}
	return nil
}

// fragment adds a part of a NAL unit. The NAL header is split between the packet's header and the part's header.
func (u *nalUnit) fragment(header, rest []byte) error {
	part := rest[0]
	first, last := part&0x80 != 0, part&0x40 != 0
	if first == (u.begun > 0) {
		return errors.New("a part of a NAL unit is missing")
	}
	if first {
		u.data = append(u.data, startCode...)
		u.begun = len(u.data)
		if u.h265 {
			u.data = append(u.data, header[0]&0x81|part&0x3f<<1, header[1])
		} else {
			u.data = append(u.data, header[0]&0xe0|part&0x1f)
		}
	}
	u.data = append(u.data, rest[1:]...)
	if last {
		u.look(u.data[u.begun:])
		u.begun = 0
	}
	return nil
}

// look records what a NAL unit reveals about its picture. In a slice, a first bit of 1 (first_mb_in_slice, first_slice_segment_in_pic_flag) marks the first
// slice of a picture.
func (u *nalUnit) look(nal []byte) {
	slice, set, body := false, false, 1
	if u.h265 {
		kind := nal[0] >> 1 & 0x3f
		slice, set, body = kind < 32, kind == 33, 2
		u.key = u.key || kind >= 16 && kind <= 23
	} else {
		kind := nal[0] & 0x1f
		slice, set = kind == 1 || kind == 2 || kind == 5, kind == 7
		switch kind {
		case 5:
			u.key, u.refresh = true, 0 // a whole key picture overrides earlier messages
		case 6:
			point, refresh := recoveryPoint(nal[1:])
			u.key, u.refresh = u.key || point, max(u.refresh, refresh)
		}
	}
	u.sets = u.sets || set
	if slice && !u.pictures {
		u.pictures, u.begins = true, len(nal) > body && nal[body]&0x80 != 0
	}
}

// recoveryPoint reports whether a supplemental information message, without its header, allows decoding to begin here (ITU-T H.264, D.1.8). refresh is its
// recovery_frame_cnt, the number of further pictures until a picture is whole.
func recoveryPoint(sei []byte) (point bool, refresh int) {
	const recovery = 6
	for len(sei) > 2 {
		kind, size := 0, 0
		for _, v := range []*int{&kind, &size} {
			for len(sei) > 0 && sei[0] == 0xff {
				*v += 255
				sei = sei[1:]
			}
			if len(sei) == 0 {
				return false, 0
			}
			*v += int(sei[0])
			sei = sei[1:]
		}
		if kind == recovery {
			return true, expGolomb(sei)
		}
		sei = sei[min(size, len(sei)):]
	}
	return false, 0
}

// expGolomb returns the number at the start of data (ITU-T H.264, 9.1), coded as n zero bits, a one bit and n more bits. For n above 11 it returns 4095. Up to
// 11, data cannot contain two zero bytes, so no emulation prevention byte occurs.
func expGolomb(data []byte) int {
	var head [3]byte
	copy(head[:], data)
	v := uint32(head[0])<<24 | uint32(head[1])<<16 | uint32(head[2])<<8
	n := bits.LeadingZeros32(v)
	if n > 11 {
		return 1<<12 - 1
	}
	return int(v<<n>>(31-n)) - 1
}
