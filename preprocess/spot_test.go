package preprocess

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gocv.io/x/gocv"
)

// The filter agrees with OpenCV's. In a picture narrower than the filter, where OpenCV mirrors repeatedly, results only stay within the range of the values.
// OpenCV sums in a different order, so the tolerance is 1e-6 of the values' size, and 1e-5 for sums of weights that differ from 1 by rounding.
func TestBlur(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []image.Point{{64, 64}, {37, 21}, {19, 3}, {9, 40}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			m := gocv.NewMatWithSize(size.Y, size.X, gocv.MatTypeCV32FC1)
			defer m.Close()
			src, err := m.DataPtrFloat32()
			if err != nil {
				t.Fatal(err)
			}
			for i := range src {
				src[i] = float32(100 + 10*r.NormFloat64())
			}
			want := gocv.NewMat()
			defer want.Close()
			gocv.GaussianBlur(m, &want, image.Pt(2*kernelSide+1, 2*kernelSide+1), smoothing, smoothing, gocv.BorderReflect)
			expected, err := want.DataPtrFloat32()
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, len(src))
			newBlur().apply(got, src, size.X, size.Y)
			for i, v := range got {
				if math.Abs(float64(v-expected[i])) > 1e-4 && size.X >= kernelSide && size.Y >= kernelSide {
					t.Fatalf("pixel %d: %g, OpenCV has %g", i, v, expected[i])
				}
				if low, high := slices.Min(src), slices.Max(src); v < low-1e-3 || v > high+1e-3 {
					t.Fatalf("pixel %d: %g, from values of %g to %g", i, v, low, high)
				}
			}
		})
	}
}

func TestExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 100; n++ {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.IntN(12) - 6) // values repeat, and the first one must be found
		}
		low, high, ok := extremes(v)
		if low != slices.Index(v, slices.Min(v)) || high != slices.Index(v, slices.Max(v)) || !ok {
			t.Fatalf("%v: places %d and %d, %t", v, low, high, ok)
		}
		for _, broken := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			at := r.IntN(n)
			was := v[at]
			v[at] = float32(broken)
			if _, _, ok := extremes(v); ok {
				t.Fatalf("%v is taken for finite", v)
			}
			v[at] = was
		}
	}
}

// A disc weighs exactly the pixels that it covers, also if it extends beyond the picture.
func TestDisc(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		w, h := 1+r.IntN(40), 1+r.IntN(40)
		pixels := make([]float32, w*h)
		for i := range pixels {
			pixels[i] = r.Float32()
		}
		at, radius := Point{float64(w) * (1.4*r.Float64() - 0.2), float64(h) * (1.4*r.Float64() - 0.2)}, 1+20*r.Float64()
		g := ground{level: 0.5, noise: 0.05, sign: float64(1 - 2*r.IntN(2))}
		var sw, sx, sy float64
		for i, v := range pixels {
			x, y := float64(i%w), float64(i/w)
			if weight := g.sign*(float64(v)-g.level) - noiseMultiple*g.noise; weight > 0 && math.Hypot(x-at.X, y-at.Y) < radius {
				sw, sx, sy = sw+weight, sx+weight*x, sy+weight*y
			}
		}
		d := disc{picture: pixels, width: w, height: h}
		c, ok := d.centroid(at, radius, g)
		if ok != (sw > 0) || ok && math.Hypot(c.X-sx/sw, c.Y-sy/sw) > 1e-9 { // allows for sums in a different order
			t.Fatalf("%d x %d, %g around %v: %v, %t; expected %g, %g of weight %g", w, h, radius, at, c, ok, sx/sw, sy/sw, sw)
		}
	}
}
