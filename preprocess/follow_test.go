package preprocess

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
)

// shown makes a frame of the given pixels and applies the given steps.
func shown(t testing.TB, seq uint64, width, height int, pixels []float32) *frame.Frame {
	return picture(t, seq, height, width, gocv.MatTypeCV32F, pixels...)
}

// The centroid is the object's position in the raw frame, independent of cropping and scaling, for bright and dark objects.
func TestFollow(t *testing.T) {
	const width, height, frames = 200, 160, 40
	for _, c := range []struct {
		name      string
		amplitude float64
		steps     [][2]string
		colour    bool
		tolerance float64 // px of the raw frame, root mean square: due to noise, and larger if pixels are merged
	}{
		{"whole", 80, nil, false, 0.15},
		{"dark", -80, nil, false, 0.15},
		{"region", 80, [][2]string{{"roi", "{x: 60, y: 20, width: 100, height: 120}"}}, false, 0.15},
		{"region, shrunk", 80, [][2]string{{"roi", "{x: 60, y: 20, width: 100, height: 120}"}, {"resize", "{width: 50, height: 40}"}}, false, 0.2},
		{"enlarged, region", 80, [][2]string{{"resize", "{width: 400, height: 320}"}, {"roi", "{x: 120, y: 40, width: 200, height: 240}"}}, false, 0.2},
		{"searched", 80, [][2]string{{"roi", "search: {size: 96, frames: 5}"}, {"resize", "{width: 64, height: 64}"}}, false, 0.2},
		{"colour", 80, [][2]string{{"resize", "{width: 100, height: 80}"}}, true, 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			follow := NewFollow()
			defer follow.Close()
			var square float64
			at := Point{110, 80}
			for k := range uint64(frames) {
				at.X, at.Y = at.X+2*r.NormFloat64(), at.Y+2*r.NormFloat64()
				pixels := blob(width, height, at, 6, 100, c.amplitude)
				for i := range pixels {
					pixels[i] += float32(2 * r.NormFloat64())
				}
				f := shown(t, k, width, height, pixels)
				if c.colour {
					three := gocv.NewMat()
					gocv.CvtColor(*f.Mat(), &three, gocv.ColorGrayToBGR)
					f.Replace(three)
				}
				for _, s := range c.steps {
					apply(t, newStep(t, s[0], s[1]), f)
				}
				apply(t, follow, f)
				if len(f.Meta.Centroid) != 2 {
					t.Fatalf("frame %d has no centroid", k)
				}
				square += math.Pow(f.Meta.Centroid[0]-at.X, 2) + math.Pow(f.Meta.Centroid[1]-at.Y, 2)
			}
			off := math.Sqrt(square / (2 * frames))
			t.Logf("off by %.3f px", off)
			if off > c.tolerance {
				t.Errorf("off by %.3f px, want at most %g", off, c.tolerance)
			}
		})
	}
}

// On a real bead it finds in every frame the same position as the search in the whole recording, up to a tolerance: the disc's radius, 1.5 times the extent,
// comes from pictures of different sizes, which weighs the bead's uneven ring differently.
func TestFollowTrap(t *testing.T) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: the recording of a trapped bead is not read")
	}
	pictures, width, height := readVideo(t, filepath.Join(data, "deeptrack-trap-good", "trap-good.mp4"))
	centres, _, err := Centres(pictures, width, height)
	if err != nil {
		t.Fatal(err)
	}
	radius, err := Extent(pictures[0], width, height, centres[0])
	if err != nil {
		t.Fatal(err)
	}
	follow, region := NewFollow(), newStep(t, "roi", "{x: 28, y: 28, width: 64, height: 64}")
	defer follow.Close()
	var square float64
	for k, pixels := range pictures {
		want, err := Centroid(pixels, width, height, centres[k], radius)
		if err != nil {
			t.Fatal(err)
		}
		f := shown(t, uint64(k), width, height, pixels)
		apply(t, region, f)
		apply(t, follow, f)
		if len(f.Meta.Centroid) != 2 {
			t.Fatalf("frame %d has no centroid", k)
		}
		square += math.Pow(f.Meta.Centroid[0]-want.X, 2) + math.Pow(f.Meta.Centroid[1]-want.Y, 2)
	}
	off := math.Sqrt(square / float64(2*len(pictures)))
	t.Logf("off by %.3f px", off)
	if off > 0.1 {
		t.Errorf("off by %.3f px from the search in the whole recording, want at most 0.1", off)
	}
}

func TestFollowFindsNothing(t *testing.T) {
	follow := NewFollow()
	defer follow.Close()
	f := picture(t, 0, 64, 64, gocv.MatTypeCV8U, 7)
	apply(t, follow, f)
	if len(f.Meta.Centroid) != 0 {
		t.Errorf("centroid %v in an even picture", f.Meta.Centroid)
	}
	broken := picture(t, 0, 64, 64, gocv.MatTypeCV32F, float32(math.NaN()))
	if apply(t, follow, broken); len(broken.Meta.Centroid) != 0 {
		t.Errorf("centroid %v in a picture of nothing", broken.Meta.Centroid)
	}
	// If the camera's shutter opens later, the object is found as in a film that begins with it.
	spot := blob(64, 64, Point{20, 30}, 3, 0.2, 0.6)
	late, first := shown(t, 0, 64, 64, spot), shown(t, 0, 64, 64, spot)
	apply(t, follow, late)
	fresh := NewFollow()
	defer fresh.Close()
	apply(t, fresh, first)
	if len(late.Meta.Centroid) != 2 || !slices.Equal(late.Meta.Centroid, first.Meta.Centroid) {
		t.Errorf("after a picture of nothing the centroid is %v, in a film that begins here %v", late.Meta.Centroid, first.Meta.Centroid)
	}
	small := picture(t, 1, 1, 3, gocv.MatTypeCV16U, 7, 8, 9)
	apply(t, follow, small) // a picture smaller than the filter
}

func BenchmarkFollow(b *testing.B) {
	for name, side := range map[string]int{"64": 64, "512": 512} {
		b.Run(name, func(b *testing.B) {
			follow := NewFollow()
			defer follow.Close()
			f := shown(b, 0, side, side, blob(side, side, Point{0.4 * float64(side), 0.6 * float64(side)}, 0.08*float64(side), 0.2, 0.6))
			for b.Loop() {
				apply(b, follow, f)
			}
		})
	}
}
