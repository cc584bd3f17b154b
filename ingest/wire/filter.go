package wire

import "encoding/binary"

// Filter rearranges raw bytes so that Zstandard compresses them better; it is exactly reversible.
type Filter int

// The filters. Planes is best for noisy pictures, because a difference contains the noise of two pixels. Up is best for smooth pictures.
const (
	NoFilter Filter = iota
	Planes          // first byte of every sample, then the second byte of every sample, and so on
	Up              // Planes of the difference d of each sample from the sample above (0 in the first row), as 2d for d >= 0, else -2d - 1
)

// apply filters src into dst. Both have the size of a frame. spare is scratch memory.
func (f Filter) apply(dst, src, spare []byte, h *Header) {
	switch f {
	case Up:
		subtract(spare, src, h.Width*h.Channels, h.Depth.Bytes())
		part(dst, spare, h.Depth.Bytes())
	case Planes:
		part(dst, src, h.Depth.Bytes())
	default:
		copy(dst, src)
	}
}

// undo is the inverse of apply.
func (f Filter) undo(dst, src []byte, h *Header) {
	switch f {
	case Up:
		unite(dst, src, h.Depth.Bytes())
		add(dst, h.Width*h.Channels, h.Depth.Bytes())
	case Planes:
		unite(dst, src, h.Depth.Bytes())
	default:
		copy(dst, src)
	}
}

// part splits samples of size bytes into byte planes.
func part(dst, src []byte, size int) {
	n := len(src) / size
	for k := range size {
		plane := dst[k*n : (k+1)*n]
		for i := range plane {
			plane[i] = src[i*size+k]
		}
	}
}

// unite is the inverse of part.
func unite(dst, src []byte, size int) {
	n := len(src) / size
	for k := range size {
		for i, b := range src[k*n : (k+1)*n] {
			dst[i*size+k] = b
		}
	}
}

// subtract replaces every sample of 1 or 2 bytes by its difference from the sample above it, row samples before. The sign becomes the lowest bit, so the upper
// byte of a small difference is 0 for either sign.
func subtract(dst, src []byte, row, size int) {
	if size == 1 {
		for i, v := range src {
			var above byte
			if i >= row {
				above = src[i-row]
			}
			d := int8(v - above)
			dst[i] = byte(d<<1) ^ byte(d>>7)
		}
		return
	}
	for i := 0; i < len(src); i += 2 {
		var above uint16
		if i >= 2*row {
			above = binary.LittleEndian.Uint16(src[i-2*row:])
		}
		d := int16(binary.LittleEndian.Uint16(src[i:]) - above)
		binary.LittleEndian.PutUint16(dst[i:], uint16(d<<1)^uint16(d>>15))
	}
}

// add is the inverse of subtract, in place.
func add(dst []byte, row, size int) {
	if size == 1 {
		for i, v := range dst {
			var above byte
			if i >= row {
				above = dst[i-row]
			}
			dst[i] = above + (v>>1 ^ -(v & 1))
		}
		return
	}
	for i := 0; i < len(dst); i += 2 {
		var above uint16
		if i >= 2*row {
			above = binary.LittleEndian.Uint16(dst[i-2*row:])
		}
		v := binary.LittleEndian.Uint16(dst[i:])
		binary.LittleEndian.PutUint16(dst[i:], above+(v>>1^-(v&1)))
	}
}
