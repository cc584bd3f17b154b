package preprocess

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocv.io/x/gocv"
)

// blob returns a Gaussian spot of the given sd and height on an even ground.
func blob(width, height int, at Point, sd, ground, amplitude float64) []float32 {
	v := make([]float32, width*height)
	for i := range v {
		dx, dy := float64(i%width)-at.X, float64(i/width)-at.Y
		v[i] = float32(ground + amplitude*math.Exp(-(dx*dx+dy*dy)/(2*sd*sd)))
	}
	return v
}

// A spot must be found whether it moves far or less than its own width, bright or dark, and next to a brighter object that does not move.
func TestCentres(t *testing.T) {
	const side, frames, spot = 100, 60, 4.0
	for _, c := range []struct {
		name              string
		amplitude, spread float64 // grey levels; sd of the position around (52, 44), pixels
		noise             float64
		still             float64 // amplitude of a resting spot at (20, 80)
		tolerance         float64 // pixels; 1 is the grid, the rest is noise
	}{
		{"wanders", 80, 12, 2, 0, 1.5},
		{"wanders, dark", -80, 12, 2, 0, 1.5},
		{"wanders, faint", 20, 12, 6, 0, 2.5},
		{"wanders beside a brighter resting spot", 80, 12, 2, 200, 2},
		{"trembles", 80, 0.8, 2, 0, 1.5},
		{"trembles, dark", -80, 0.8, 2, 0, 1.5},
		{"moves by its own width", 80, 4, 2, 0, 1.5},
		{"rests", 80, 0, 2, 0, 1.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 12))
			var pictures [][]float32
			var truth []Point
			for range frames {
				at := Point{
					52 + c.spread*max(-2.5, min(2.5, r.NormFloat64())),
					44 + c.spread*max(-2.5, min(2.5, r.NormFloat64())),
				}
				v := blob(side, side, at, spot, 100, c.amplitude)
				for i, w := range blob(side, side, Point{20, 80}, 3, 0, c.still) {
					v[i] += w + float32(c.noise*r.NormFloat64())
				}
				pictures, truth = append(pictures, v), append(truth, at)
			}
			centres, mean, err := Centres(pictures, side, side)
			if err != nil {
				t.Fatal(err)
			}
			var meanX, meanY float64
			for i, p := range centres {
				if off := math.Hypot(p.X-truth[i].X, p.Y-truth[i].Y); off > c.tolerance {
					t.Errorf("frame %d: found %v, expected %v within %g", i, p, truth[i], c.tolerance)
				}
				meanX, meanY = meanX+truth[i].X/frames, meanY+truth[i].Y/frames
			}
			if math.Hypot(mean.X-meanX, mean.Y-meanY) > 0.5 {
				t.Errorf("found mean %v, expected (%.1f, %.1f)", mean, meanX, meanY)
			}
		})
	}
}

func TestCentresRefuses(t *testing.T) {
	good := make([]float32, 12)
	bad := append([]float32(nil), good...)
	bad[3] = float32(math.NaN())
	for _, c := range []struct {
		frames        [][]float32
		width, height int
		want          string
	}{
		{nil, 4, 3, "no frames"},
		{[][]float32{good}, 0, 3, "found 0x3 pixels"},
		{[][]float32{good, good[1:]}, 4, 3, "frame 1 has 11 pixels, expected 4x3"},
		{[][]float32{good, bad}, 4, 3, "frame 1 contains a number that is not finite"},
	} {
		if _, _, err := Centres(c.frames, c.width, c.height); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q in it", err, c.want)
		}
	}
	if _, _, err := Centres([][]float32{good}, 4, 3); err != nil {
		t.Errorf("a blank frame: found %v, expected some centre", err)
	}
}

func TestCentroid(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, amplitude := range []float64{80, -80} {
		for range 20 {
			at := Point{30 + 4*r.Float64(), 28 + 4*r.Float64()}
			v := blob(64, 60, at, 4, 100, amplitude)
			for i := range v {
				v[i] += float32(r.NormFloat64())
			}
			got, err := Centroid(v, 64, 60, Point{math.Round(at.X) + 1, math.Round(at.Y) - 1}, 14)
			if err != nil {
				t.Fatal(err)
			}
			// Noise of 1 on a spot of height 80 and sd 4 allows about 0.03 pixels.
			if math.Hypot(got.X-at.X, got.Y-at.Y) > 0.1 {
				t.Errorf("found %v, expected %v within 0.1", got, at)
			}
		}
	}
	if _, err := Centroid(make([]float32, 100), 10, 10, Point{5, 5}, 3); err == nil || !strings.Contains(err.Error(), "nothing is visible") {
		t.Errorf("blank picture: found %v, expected a refusal", err)
	}
	if _, err := Centroid(make([]float32, 100), 10, 10, Point{500, -5}, 3); err == nil {
		t.Error("a place far outside: found no error")
	}
	if _, err := Centroid(make([]float32, 100), 10, 10, Point{5, 5}, math.NaN()); err == nil {
		t.Error("radius NaN: found no error")
	}
	if radius, err := Extent(blob(64, 60, Point{30, 30}, 4, 100, 80), 64, 60, Point{30, 30}); err != nil || radius < 12 || radius > 15 {
		t.Errorf("found radius %g (%v), expected 12 to 15: a Gaussian is down to a tenth at 2.15 sd", radius, err)
	}
}

// The centroids agree with the recording's description: sd 0.75 and 0.88 pixels, autocorrelation at lag 1 of 0.84 and 0.88.
func TestCentroidTrap(t *testing.T) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: the recording of a trapped bead is not read")
	}
	pictures, width, height := readVideo(t, filepath.Join(data, "deeptrack-trap-good", "trap-good.mp4"))
	centres, mean, err := Centres(pictures, width, height)
	if err != nil {
		t.Fatal(err)
	}
	radius, err := Extent(pictures[0], width, height, mean)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float64, len(pictures)), make([]float64, len(pictures))
	for i, p := range pictures {
		c, err := Centroid(p, width, height, centres[i], radius)
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if math.Hypot(c.X-centres[i].X, c.Y-centres[i].Y) > 1.5 { // allows for the grid, the smoothing and the bead's uneven ring
			t.Errorf("frame %d: the search found %v, the centroid is %v", i, centres[i], c)
		}
		x[i], y[i] = c.X, c.Y
	}
	for _, c := range []struct {
		axis           string
		v              []float64
		sd, correlated float64
	}{{"x", x, 0.75, 0.84}, {"y", y, 0.88, 0.88}} {
		sd, correlated := spreadAndMemory(c.v)
		// The tolerance 0.03 allows for two decimals in the description, and for centroids that weigh the bead's dark ring differently.
		if math.Abs(sd-c.sd) > 0.03 || math.Abs(correlated-c.correlated) > 0.03 {
			t.Errorf("%s: found sd %.3f and autocorrelation %.3f, expected %.2f and %.2f", c.axis, sd, correlated, c.sd, c.correlated)
		}
	}
}

// spreadAndMemory returns the standard deviation of v and its autocorrelation at lag 1.
func spreadAndMemory(v []float64) (sd, correlated float64) {
	var mean, square, lagged float64
	for _, a := range v {
		mean += a / float64(len(v))
	}
	for i, a := range v {
		square += (a - mean) * (a - mean)
		if i > 0 {
			lagged += (a - mean) * (v[i-1] - mean)
		}
	}
	return math.Sqrt(square / float64(len(v))), lagged / square
}

// readVideo reads a recording as grey pictures.
func readVideo(t *testing.T, path string) (pictures [][]float32, width, height int) {
	t.Helper()
	video, err := gocv.VideoCaptureFile(path)
	if err != nil {
		t.Fatalf("%s: %v: DRIFTSCOPE_DATA is incomplete", path, err)
	}
	defer video.Close()
	m := gocv.NewMat()
	defer m.Close()
	for video.Read(&m) && !m.Empty() {
		width, height = m.Cols(), m.Rows()
		raw := m.ToBytes()
		v := make([]float32, len(raw))
		for i, b := range raw {
			v[i] = float32(b)
		}
		pictures = append(pictures, grey(v, m.Channels()))
	}
	if len(pictures) != 100 {
		t.Fatalf("%s: found %d frames, expected 100: DRIFTSCOPE_DATA is incomplete", path, len(pictures))
	}
	return pictures, width, height
}
