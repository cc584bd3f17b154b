//go:build !cgo

package field

import (
	"math"
	"slices"

	"driftscope/internal/flow/frame"
)

// Weights of blue, green and red in a grey value (ITU-R BT.601), rounded as in OpenCV to integers in units of 2^-shift.
const (
	shift, blue, green, red = 15, 3735, 19235, 9798
	blue32, green32, red32  = 0.114, 0.587, 0.299
)

// grey converts a colour picture to grey of the same depth. The caller owns the result.
func grey(m *frame.Mat) frame.Mat {
	to := frame.NewMatWithSize(m.Rows(), m.Cols(), m.Type()&7)
	switch m.Type() & 7 {
	case frame.MatTypeCV8U:
		weigh(must(to.DataPtrUint8()), must(m.DataPtrUint8()), func(b, g, r uint8) uint8 {
			return uint8((int(b)*blue + int(g)*green + int(r)*red + 1<<(shift-1)) >> shift)
		})
	case frame.MatTypeCV16U:
		weigh(must(to.DataPtrUint16()), must(m.DataPtrUint16()), func(b, g, r uint16) uint16 {
			return uint16((int(b)*blue + int(g)*green + int(r)*red + 1<<(shift-1)) >> shift)
		})
	default:
		weigh(must(to.DataPtrFloat32()), must(m.DataPtrFloat32()), func(b, g, r float32) float32 { return b*blue32 + g*green32 + r*red32 })
	}
	return to
}

// must returns the memory of a Mat whose type the caller has checked.
func must[T any](values []T, err error) []T {
	if err != nil {
		panic(err)
	}
	return values
}

// weigh computes one value from each three channels.
func weigh[T any](to, from []T, of func(b, g, r T) T) {
	for i := range to {
		to[i] = of(from[3*i], from[3*i+1], from[3*i+2])
	}
}

// single converts a picture to float32. The caller owns the result.
func single(m *frame.Mat) frame.Mat {
	to := frame.NewMatWithSize(m.Rows(), m.Cols(), frame.MatTypeCV32F+m.Type()&^7)
	values := must(to.DataPtrFloat32())
	if m.Type()&7 == frame.MatTypeCV8U {
		copyTo(values, must(m.DataPtrUint8()))
	} else {
		copyTo(values, must(m.DataPtrUint16()))
	}
	return to
}

func copyTo[T uint8 | uint16](to []float32, from []T) {
	for i, v := range from {
		to[i] = float32(v)
	}
}

// finite reports whether every value of a float picture is finite.
func finite(m *frame.Mat) bool {
	return !slices.ContainsFunc(must(m.DataPtrFloat32()), func(v float32) bool { return v != v || math.IsInf(float64(v), 0) })
}
