package wire

import "encoding/binary"

// Filter rearranges raw bytes so that Zstandard finds more in them; it is undone exactly.
type Filter int

// The filters. What noise limits Planes shrinks most, for a difference has the noise of both its pixels; smooth pictures Up.
const (
	NoFilter Filter = iota
	Planes          // the first byte of every sample, then the second of every sample, and so on
	Up              // Planes of each sample less the one above it, as 2d where that is d >= 0, otherwise -2d - 1; above the first row are zeros
)

// apply filters src into dst, both a whole frame, and uses spare for what lies between.
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

// part puts the bytes of samples of so many bytes each into planes.
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

// subtract takes from every sample of 1 or 2 bytes the one above it, row samples before. The sign becomes the lowest bit, so that the upper
// byte of a small difference is 0 whatever its sign.
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
