package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"testing"
)

// TestConvert: samples of every kind and byte order are converted correctly, with and without gaps between them.
func TestConvert(t *testing.T) {
	for _, c := range []struct {
		Samples
		depth  Depth
		values []float64 // stored values
	}{
		{Samples{Truth, 1, false}, Uint8, []float64{0, 1, 2, 255, 0}},
		{Samples{Unsigned, 1, false}, Uint8, []float64{0, 1, 128, 255, 7}},
		{Samples{Unsigned, 2, false}, Uint16, []float64{0, 1, 256, 65535, 4660}},
		{Samples{Unsigned, 4, false}, Float32, []float64{0, 1, 65536, 1 << 31, 305419896 &^ 0xff}},
		{Samples{Signed, 1, false}, Float32, []float64{0, 1, -1, -128, 127}},
		{Samples{Signed, 2, false}, Float32, []float64{0, 1, -1, -32768, 4660}},
		{Samples{Signed, 4, false}, Float32, []float64{0, 1, -1, math.MinInt32, 65536}},
		{Samples{Floating, 4, false}, Float32, []float64{0, 1.5, -2.25, math.Inf(1), 1e-30}},
		{Samples{Floating, 8, false}, Float32, []float64{0, 1.5, -2.25, math.Inf(-1), 4096.5}},
	} {
		if c.Depth() != c.depth {
			t.Errorf("%+v becomes depth %d, %d expected", c.Samples, c.Depth(), c.depth)
		}
		for _, big := range []bool{false, true} {
			for from := range 3 { // bytes between two samples
				for to := range 3 {
					c.Big = big
					c.checkConvert(t, c.values, from, to)
				}
			}
		}
	}
}

// TestUnread: the error for an unsupported kind ends with the page that lists the supported kinds, and wraps its cause.
func TestUnread(t *testing.T) {
	err := Unread("compression %s: %w", "JPEG", ErrTorn)
	if err.Error() != "compression JPEG: the file is torn (docs/howto/recordings.md)" || !errors.Is(err, ErrTorn) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat("../../" + Page); err != nil {
		t.Error(err)
	}
}

// checkConvert checks the conversion of values with the given numbers of bytes between them in source and target.
func (s Samples) checkConvert(t *testing.T, values []float64, from, to int) {
	t.Helper()
	var order binary.AppendByteOrder = binary.LittleEndian
	if s.Big {
		order = binary.BigEndian
	}
	var src []byte
	for _, v := range values {
		switch {
		case s.Kind == Floating && s.Bytes == 8:
			src = order.AppendUint64(src, math.Float64bits(v))
		case s.Kind == Floating:
			src = order.AppendUint32(src, math.Float32bits(float32(v)))
		case s.Bytes == 4:
			src = order.AppendUint32(src, uint32(int64(v)))
		case s.Bytes == 2:
			src = order.AppendUint16(src, uint16(int64(v)))
		default:
			src = append(src, byte(int64(v)))
		}
		src = append(src, make([]byte, from)...)
	}
	size := s.Depth().Bytes()
	dst := bytes.Repeat([]byte{0xee}, len(values)*(size+to)+3)
	s.Convert(dst, src, Run{len(values), size + to, s.Bytes + from})
	for i, v := range values {
		at := dst[i*(size+to):]
		var got float64
		switch s.Depth() {
		case Uint8:
			got = float64(at[0])
		case Uint16:
			got = float64(binary.LittleEndian.Uint16(at))
		default:
			got, v = float64(math.Float32frombits(binary.LittleEndian.Uint32(at))), float64(float32(v))
		}
		if s.Kind == Truth && v != 0 {
			v = 255
		}
		if got != v {
			t.Errorf("%+v, %d bytes between, %d behind: value %d is %g, %g expected", s, from, to, i, got, v)
		}
		for _, b := range at[size : size+to] {
			if b != 0xee {
				t.Errorf("%+v: what lies between was written to", s)
			}
		}
	}
	if !bytes.Equal(dst[len(dst)-3:], []byte{0xee, 0xee, 0xee}) {
		t.Errorf("%+v: what lies behind was written to", s)
	}
}
