package frame_test

import (
	"testing"

	"driftscope/internal/flow/frame"
)

// A Mat behaves the same with OpenCV and without: sizes, types, byte order of the values, independent clones, and no pixels after Close.
func TestMat(t *testing.T) {
	for _, c := range []struct {
		kind            frame.MatType
		channels, bytes int
	}{
		{frame.MatTypeCV8UC1, 1, 1}, {frame.MatTypeCV8UC3, 3, 3}, {frame.MatTypeCV16UC1, 1, 2},
		{frame.MatTypeCV16UC3, 3, 6}, {frame.MatTypeCV32FC1, 1, 4}, {frame.MatTypeCV32FC3, 3, 12},
	} {
		m := frame.NewMatWithSize(2, 5, c.kind)
		if m.Rows() != 2 || m.Cols() != 5 || m.Total() != 10 || m.Channels() != c.channels || m.ElemSize() != c.bytes || m.Type() != c.kind || !m.IsContinuous() || m.Empty() || len(m.Size()) != 2 {
			t.Errorf("type %v: %dx%d, %d pixels of %d channels and %d bytes, type %v", c.kind, m.Rows(), m.Cols(), m.Total(), m.Channels(), m.ElemSize(), m.Type())
		}
		pixels, err := m.DataPtrUint8()
		if err != nil || len(pixels) != 10*c.bytes {
			t.Fatalf("type %v: %d bytes, %v", c.kind, len(pixels), err)
		}
		for i := range pixels {
			pixels[i] = byte(i)
		}
		other := m.Clone()
		pixels[0] = 99
		if copied, err := other.DataPtrUint8(); err != nil || len(copied) != len(pixels) || copied[0] != 0 || copied[len(copied)-1] != byte(len(copied)-1) {
			t.Errorf("type %v: the clone is %v, %v", c.kind, copied, err)
		}
		words, wordsErr := m.DataPtrUint16()
		if deep := c.kind&7 == frame.MatTypeCV16U; deep && (wordsErr != nil || len(words) != len(pixels)/2 || words[1] != 3<<8|2) {
			t.Errorf("type %v: words %v, %v", c.kind, words, wordsErr)
		}
		floats, floatsErr := m.DataPtrFloat32()
		if single := c.kind&7 == frame.MatTypeCV32F; single != (floatsErr == nil) || single && len(floats) != len(pixels)/4 {
			t.Errorf("type %v: %d floats, %v", c.kind, len(floats), floatsErr)
		}
		other.Close()
		if m.Close(); m.Ptr() != nil {
			t.Errorf("type %v: there is something behind Close", c.kind)
		}
	}
	empty := frame.NewMat()
	defer empty.Close()
	if !empty.Empty() || empty.Ptr() == nil {
		t.Error("a new Mat has pixels, or is none")
	}
	var none frame.Mat
	if none.Ptr() != nil {
		t.Error("the zero Mat is one")
	}
}

// Bytes and Light of a frame depend only on its pixels.
func TestFrameOfMat(t *testing.T) {
	m := frame.NewMatWithSize(40, 50, frame.MatTypeCV16UC1)
	words, err := m.DataPtrUint16()
	if err != nil {
		t.Fatal(err)
	}
	for i := range words {
		words[i] = 100
		if i%4 == 0 {
			words[i] = 300
		}
	}
	var pool frame.Pool
	f := pool.New(0, frame.Meta{}.Arrived, frame.Meta{}, m)
	defer f.Close()
	if f.Bytes() != 4000 || f.Light() != 200 {
		t.Errorf("%d bytes, light %g", f.Bytes(), f.Light())
	}
}
