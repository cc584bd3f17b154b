package tiff

import (
	"encoding/binary"
	"math"
)

// Kind is the type of a number.
type Kind byte

// The supported types of numbers.
const (
	Truth    Kind = 'b' // boolean, one byte
	Unsigned Kind = 'u' // 1, 2 or 4 bytes
	Signed   Kind = 'i' // 1, 2 or 4 bytes
	Floating Kind = 'f' // 4 or 8 bytes
)

// Samples is the storage format of a recording's numbers.
type Samples struct {
	Kind  Kind
	Bytes int  // per number
	Big   bool // most significant byte first
}

// Depth returns the depth after conversion: unsigned numbers of 8 and 16 bits keep their values, true becomes 255, all others
// become floats.
func (s Samples) Depth() Depth {
	switch {
	case s.Bytes == 1 && s.Kind != Signed:
		return Uint8
	case s.Bytes == 2 && s.Kind == Unsigned:
		return Uint16
	}
	return Float32
}

// pixels reports that stored samples have the format of an Image's pixels.
func (s Samples) pixels() bool {
	return s.Kind == Unsigned && (s.Bytes == 1 || s.Bytes == 2 && !s.Big) || s.Kind == Floating && s.Bytes == 4 && !s.Big
}

// Run is N samples. To and From are the steps in bytes between them in the target and in the source.
type Run struct{ N, To, From int }

// Convert converts the samples of src to pixels of dst.
func (s Samples) Convert(dst, src []byte, r Run) {
	size := s.Depth().Bytes()
	together := r.To == size && r.From == s.Bytes
	switch {
	case s.Kind == Truth:
		for i := range r.N {
			dst[i*r.To] = 0
			if src[i*r.From] != 0 {
				dst[i*r.To] = 255
			}
		}
	case together && s.pixels():
		copy(dst[:r.N*size], src)
	case size == 1:
		for i := range r.N {
			dst[i*r.To] = src[i*r.From]
		}
	case size == 2 && together:
		swap2(dst[:2*r.N], src[:2*r.N])
	case size == 2:
		for i := range r.N {
			binary.LittleEndian.PutUint16(dst[i*r.To:], s.uint16(src[i*r.From:]))
		}
	default:
		s.float(dst, src, r)
	}
}

// swap2 swaps the bytes of 16-bit samples, four at once.
func swap2(dst, src []byte) {
	const even = 0x00ff00ff00ff00ff
	for len(src) >= 8 && len(dst) >= 8 {
		v := binary.LittleEndian.Uint64(src)
		binary.LittleEndian.PutUint64(dst, v&even<<8|v>>8&even)
		dst, src = dst[8:], src[8:]
	}
	for ; len(src) >= 2 && len(dst) >= 2; dst, src = dst[2:], src[2:] {
		dst[0], dst[1] = src[1], src[0]
	}
}

// float converts to 32-bit floats.
func (s Samples) float(dst, src []byte, r Run) {
	put := func(i int, v float32) { binary.LittleEndian.PutUint32(dst[i*r.To:], math.Float32bits(v)) }
	switch {
	case s.Kind == Floating && s.Bytes == 4:
		for i := range r.N {
			binary.LittleEndian.PutUint32(dst[i*r.To:], s.uint32(src[i*r.From:]))
		}
	case s.Kind == Floating:
		for i := range r.N {
			put(i, float32(math.Float64frombits(s.uint64(src[i*r.From:]))))
		}
	case s.Kind == Unsigned:
		for i := range r.N {
			put(i, float32(s.uint32(src[i*r.From:])))
		}
	case s.Bytes == 1:
		for i := range r.N {
			put(i, float32(int8(src[i*r.From])))
		}
	case s.Bytes == 2:
		for i := range r.N {
			put(i, float32(int16(s.uint16(src[i*r.From:]))))
		}
	default:
		for i := range r.N {
			put(i, float32(int32(s.uint32(src[i*r.From:]))))
		}
	}
}

func (s Samples) uint16(b []byte) uint16 {
	if s.Big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (s Samples) uint32(b []byte) uint32 {
	if s.Big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (s Samples) uint64(b []byte) uint64 {
	if s.Big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}
