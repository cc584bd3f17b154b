package field

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/flow/frame"
)

// noise returns a picture of random integers, or of numbers in [0, 1) if it is float32.
func noise(t *testing.T, kind frame.MatType) frame.Mat {
	t.Helper()
	m, random := frame.NewMatWithSize(20, 30, kind), rand.New(rand.NewPCG(1, uint64(kind)))
	if kind&7 == frame.MatTypeCV32F {
		values, err := m.DataPtrFloat32()
		if err != nil {
			t.Fatal(err)
		}
		for i := range values {
			values[i] = random.Float32()
		}
		return m
	}
	values, err := m.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	for i := range values {
		values[i] = byte(random.Uint32())
	}
	return m
}

// floats returns a Mat's values.
func floats(t *testing.T, m *frame.Mat) (values []float64) {
	t.Helper()
	eight, err := m.DataPtrUint8()
	switch m.Type() & 7 {
	case frame.MatTypeCV8U:
		for _, v := range eight {
			values = append(values, float64(v))
		}
	case frame.MatTypeCV16U:
		var words []uint16
		words, err = m.DataPtrUint16()
		for _, v := range words {
			values = append(values, float64(v))
		}
	default:
		var single []float32
		single, err = m.DataPtrFloat32()
		for _, v := range single {
			values = append(values, float64(v))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// TestConvert requires the same grey values from both builds: ITU-R BT.601 in OpenCV's fixed point, and in float32 up to rounding.
func TestConvert(t *testing.T) {
	for kind, c := range map[frame.MatType]struct {
		blue, green, red, shift float64
		slack                   float64
	}{
		frame.MatTypeCV8UC3:  {3735, 19235, 9798, 15, 0},
		frame.MatTypeCV16UC3: {3735, 19235, 9798, 15, 0},
		frame.MatTypeCV32FC3: {0.114, 0.587, 0.299, 0, 3e-7}, // three roundings of numbers below 1
	} {
		m := noise(t, kind)
		one := grey(&m)
		if one.Channels() != 1 || one.Type() != kind&7 || one.Rows() != 20 || one.Cols() != 30 {
			t.Errorf("type %v becomes %v", kind, one.Type())
		}
		from, to := floats(t, &m), floats(t, &one)
		for i, v := range to {
			want := (c.blue*from[3*i] + c.green*from[3*i+1] + c.red*from[3*i+2]) / math.Exp2(c.shift)
			if c.shift > 0 {
				want = math.Floor(want + 0.5)
			}
			if math.Abs(v-want) > c.slack {
				t.Errorf("type %v: pixel %d is %g, expected %g", kind, i, v, want)
				break
			}
		}
		if kind&7 != frame.MatTypeCV32F {
			wide := single(&one)
			if wide.Type() != frame.MatTypeCV32FC1 {
				t.Errorf("type %v becomes %v", one.Type(), wide.Type())
			}
			for i, v := range floats(t, &wide) {
				if v != to[i] {
					t.Errorf("type %v: pixel %d is %g, expected %g", kind, i, v, to[i])
					break
				}
			}
			wide.Close()
		}
		one.Close()
		m.Close()
	}
	m := noise(t, frame.MatTypeCV32FC1)
	defer m.Close()
	if !finite(&m) {
		t.Error("finite numbers were reported as not finite")
	}
	values, err := m.DataPtrFloat32()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		values[17] = float32(bad)
		if finite(&m) {
			t.Errorf("%g was reported as finite", bad)
		}
	}
}
