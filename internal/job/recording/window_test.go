package recording

import (
	"math"
	"testing"

	"gocv.io/x/gocv"
)

// TestWindow: a preview has OpenCV's grey values for pictures of every depth. At a rounding tie in float32 a value may differ by one.
func TestWindow(t *testing.T) {
	for _, kind := range []gocv.MatType{gocv.MatTypeCV8UC3, gocv.MatTypeCV16UC1, gocv.MatTypeCV32FC1} {
		m, want := gocv.NewMatWithSize(30, 40, kind), gocv.NewMat()
		defer m.Close()
		defer want.Close()
		scale, shift := float32(255./190), float32(-30*255./190)
		if floats, err := m.DataPtrFloat32(); err == nil {
			for i := range floats {
				floats[i] = float32(i) / 4
			}
			floats[3] = float32(math.NaN())
		} else {
			data, err := m.DataPtrUint8()
			if err != nil {
				t.Fatal(err)
			}
			for i := range data {
				data[i] = byte(i * 7)
			}
		}
		m.ConvertToWithParams(&want, gocv.MatTypeCV8U, scale, shift)
		got, err := window(&m, scale, shift)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		a, errA := got.DataPtrUint8()
		b, errB := want.DataPtrUint8()
		if errA != nil || errB != nil || len(a) != len(b) {
			t.Fatalf("type %v: %d and %d values, %v, %v", kind, len(a), len(b), errA, errB)
		}
		differ := 0
		for i := range a {
			if a[i] != b[i] {
				if differ++; max(a[i], b[i])-min(a[i], b[i]) > 1 {
					t.Errorf("type %v: value %d is %d, OpenCV's %d", kind, i, a[i], b[i])
				}
			}
		}
		if differ > len(a)/100 {
			t.Errorf("type %v: %d of %d values differ", kind, differ, len(a))
		}
	}
}
