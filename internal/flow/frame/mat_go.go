//go:build !cgo

package frame

import (
	"errors"
	"unsafe"
)

// Mat is a picture's pixels, row after row, with the channels of a pixel side by side. It replaces gocv.Mat in a build without OpenCV, with the methods that
// sources and publishers need. A copied Mat shares the pixels; close only one of the copies.
type Mat struct{ p *pixels }

// pixels are a Mat's memory. It is allocated in words, so values of any depth are aligned.
type pixels struct {
	rows, cols int
	kind       MatType
	words      []uint64
}

// MatType is OpenCV's number for a pixel type: the depth in the low three bits, and above them the number of channels minus one.
type MatType int

// Pixel types of sources and their depths (the low three bits), with OpenCV's names.
const (
	MatTypeCV8U    MatType = 0
	MatTypeCV16U   MatType = 2
	MatTypeCV32F   MatType = 5
	MatTypeCV8UC1          = MatTypeCV8U
	MatTypeCV8UC3          = MatTypeCV8U + 2<<3
	MatTypeCV16UC1         = MatTypeCV16U
	MatTypeCV16UC3         = MatTypeCV16U + 2<<3
	MatTypeCV32FC1         = MatTypeCV32F
	MatTypeCV32FC3         = MatTypeCV32F + 2<<3
	MatTypeCV64F   MatType = 6 // no source delivers it
)

// channels returns the number of values of a pixel.
func (k MatType) channels() int { return int(k>>3) + 1 }

// bytes returns the size of a pixel.
func (k MatType) bytes() int {
	size := 4
	switch k & 7 {
	case MatTypeCV8U:
		size = 1
	case MatTypeCV16U:
		size = 2
	case MatTypeCV64F:
		size = 8
	}
	return size * k.channels()
}

// NewMat makes a Mat without pixels, which the caller owns.
func NewMat() Mat { return Mat{&pixels{}} }

// NewMatWithSize makes a Mat with pixels of 0; the caller owns it.
func NewMatWithSize(rows, cols int, kind MatType) Mat {
	return Mat{&pixels{rows, cols, kind, make([]uint64, (rows*cols*kind.bytes()+7)/8)}}
}

// Ptr returns nil for a zero Mat and after Close.
func (m *Mat) Ptr() unsafe.Pointer { return unsafe.Pointer(m.p) }

// Empty reports whether m has no pixels.
func (m *Mat) Empty() bool { return m.Total() == 0 }

// Rows returns the height.
func (m *Mat) Rows() int {
	if m.p == nil {
		return 0
	}
	return m.p.rows
}

// Cols returns the width.
func (m *Mat) Cols() int {
	if m.p == nil {
		return 0
	}
	return m.p.cols
}

// Size returns rows and columns.
func (m *Mat) Size() []int { return []int{m.Rows(), m.Cols()} }

// Total returns the number of pixels.
func (m *Mat) Total() int { return m.Rows() * m.Cols() }

// Type returns the pixel type.
func (m *Mat) Type() MatType {
	if m.p == nil {
		return MatTypeCV8U
	}
	return m.p.kind
}

// Channels returns the number of values of a pixel.
func (m *Mat) Channels() int { return m.Type().channels() }

// ElemSize returns the size of a pixel, bytes.
func (m *Mat) ElemSize() int { return m.Type().bytes() }

// IsContinuous reports whether no gaps lie between the rows.
func (m *Mat) IsContinuous() bool { return true }

// Clone returns a copy with its own pixels, which the caller owns.
func (m *Mat) Clone() Mat {
	if m.p == nil {
		return NewMat()
	}
	c := NewMatWithSize(m.p.rows, m.p.cols, m.p.kind)
	copy(c.p.words, m.p.words)
	return c
}

// Close frees the pixels.
func (m *Mat) Close() error {
	m.p = nil
	return nil
}

// DataPtrUint8 lends the bytes of the pixels, for any depth.
func (m *Mat) DataPtrUint8() ([]uint8, error) { return values[uint8](m, 1), nil }

// DataPtrUint16 lends the values of 16 bits.
func (m *Mat) DataPtrUint16() ([]uint16, error) {
	if m.Type()&7 != MatTypeCV16U {
		return nil, errors.New("the pixels are not of 16 bits")
	}
	return values[uint16](m, 2), nil
}

// DataPtrFloat32 lends the values of float32.
func (m *Mat) DataPtrFloat32() ([]float32, error) {
	if m.Type()&7 != MatTypeCV32F {
		return nil, errors.New("the pixels are not float32")
	}
	return values[float32](m, 4), nil
}

// values lends a Mat's memory as values of size bytes.
func values[T uint8 | uint16 | float32](m *Mat, size int) []T {
	if m.Empty() {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.p.words))), m.Total()*m.ElemSize()/size)
}
