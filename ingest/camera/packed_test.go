package camera

import (
	"encoding/hex"
	"slices"
	"testing"
)

// TestPackings checks each layout bit by bit against PFNC's drawings, which show the pixel and the bit for each bit of a group.
func TestPackings(t *testing.T) {
	for name, c := range map[string]struct {
		group []byte
		want  []uint16
	}{
		"Mono10p":      {[]byte{0x01, 0x08, 0x30, 0x00, 0x81}, []uint16{0x001, 0x002, 0x003, 0x204}},
		"Mono12p":      {[]byte{0x34, 0x72, 0x56}, []uint16{0x234, 0x567}},
		"Mono10Packed": {[]byte{0x80, 0x21, 0x01}, []uint16{0x201, 0x006}},
		"Mono12Packed": {[]byte{0x12, 0x73, 0x56}, []uint16{0x123, 0x567}},
	} {
		k := packings[name]
		got := make([]uint16, k.pixels)
		k.unpack(got, c.group)
		if len(c.group) != k.bytes || k.bytes*8 != k.bits*k.pixels || !slices.Equal(got, c.want) {
			t.Errorf("%s: % x of % x, % x expected", name, got, c.group, c.want)
		}
		seen := 0
		for bit := range 8 * k.bytes { // every bit belongs to one pixel at most
			b := make([]byte, k.bytes)
			b[bit/8] = 1 << (bit % 8)
			k.unpack(got, b)
			for _, v := range got {
				if v != 0 {
					seen++
				}
			}
		}
		if bits := map[string]int{"Mono10p": 40, "Mono12p": 24, "Mono10Packed": 20, "Mono12Packed": 24}[name]; seen != bits {
			t.Errorf("%s: %d bits are used, %d expected", name, seen, bits)
		}
	}
}

// TestMono10pByGStreamer: GStreamer's NV12_10LE40 packs luma like Mono10p packs pixels. The test data are two rows of 16 values that videoconvert (1.22) made
// from I420_10LE.
func TestMono10pByGStreamer(t *testing.T) {
	for packed, want := range map[string][]uint16{
		"05d4f0ca5c8166bfd7d99d7570ee7e590534cf4b": {5, 53, 175, 371, 641, 985, 379, 871, 413, 29, 743, 507, 345, 257, 243, 303},
		"b515faf940b1a6b2ee5d4db47deda289463bf60f": {437, 645, 927, 259, 689, 169, 747, 375, 77, 877, 727, 651, 649, 721, 867, 63},
	} {
		row, err := hex.DecodeString(packed)
		if err != nil {
			t.Fatal(err)
		}
		k := packings["Mono10p"]
		var got []uint16
		for group := range slices.Chunk(row, k.bytes) {
			got = append(got, make([]uint16, k.pixels)...)
			k.unpack(got[len(got)-k.pixels:], group)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d, %d expected", got, want)
		}
	}
}
