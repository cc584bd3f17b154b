package preprocess

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"gocv.io/x/gocv"
)

// Every byte equals OpenCV's, whether tiles divide the picture or one or both sides are continued, for both kinds of table look-up, for limits that never and
// always cut, and for pictures of few and of all grey values.
func TestEqualiseAsOpenCV(t *testing.T) {
	for _, size := range []image.Point{{64, 64}, {100, 96}, {96, 100}, {8, 9}, {9, 8}, {8, 8}, {257, 333}, {512, 512}, {2000, 70}} {
		for _, tiles := range []int{1, 3, 8} {
			for _, limit := range []float64{0.01, 1, 7.68, 256} {
				for _, greys := range []int{2, 17, 256} {
					name := fmt.Sprintf("%dx%d, %d tiles, limit %g, %d greys", size.X, size.Y, tiles, limit, greys)
					rng := rand.New(rand.NewPCG(uint64(greys), uint64(size.X)))
					source := gocv.NewMatWithSize(size.Y, size.X, gocv.MatTypeCV8UC1)
					want := gocv.NewMat()
					pixels, err := source.DataPtrUint8()
					if err != nil {
						t.Fatal(err)
					}
					for i := range pixels { // brighter to the right
						pixels[i] = uint8(min(rng.IntN(greys)+i%size.X*(256-greys)/size.X, 255))
					}
					opencv := gocv.NewCLAHEWithParams(limit, image.Pt(tiles, tiles))
					opencv.Apply(source, &want)
					s := newStep(t, "clahe", fmt.Sprintf("{tiles: %d, clip_limit: %g}", tiles, limit)).(*clahe)
					if err := s.equalise(&source); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					expected, err := want.DataPtrUint8()
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(pixels, expected) {
						t.Errorf("%s: not what OpenCV gives", name)
					}
					opencv.Close()
					want.Close()
					source.Close()
				}
			}
		}
	}
}
