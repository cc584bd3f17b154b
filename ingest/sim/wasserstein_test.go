package sim

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// blob returns a Gaussian of variance v around (x, y), side² values.
func blob(x, y, v float64) []float64 {
	return shape(func(i, j float64) float64 {
		return math.Exp(-(math.Pow(i+side/2-x, 2) + math.Pow(j+side/2-y, 2)) / (2 * v))
	})
}

// moments returns a picture's centroid and variance along x and y.
func moments(grey []float64) (mean, variance [2]float64) {
	sum := 0.0
	for i, v := range grey {
		sum += v
		for axis, at := range []float64{float64(i%side) + 0.5, float64(i/side) + 0.5} {
			mean[axis] += v * at
			variance[axis] += v * at * at
		}
	}
	for axis := range mean {
		mean[axis] /= sum
		variance[axis] = variance[axis]/sum - mean[axis]*mean[axis]
	}
	return mean, variance
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

// Between two Gaussians that differ by a shift the path is known. The Gaussian moves along the straight line, like the Wasserstein-2 geodesic, with the
// variance s² (1 - 2t(1-t)) + 2t(1-t) c + ε t(1-t), c = (√(ε² + 4s⁴) - ε)/2, which tends to s² as ε → 0 (Mallasto, Gerolin and Minh, Inf. Geom. 5, 2022).
// Tolerances: the stopping rule allows 1e-3 of misplaced mass, which means 0.02 px over a path of 20 px, and 0.4 px² if all of it is 20 px away.
func TestBarycentresOfGaussians(t *testing.T) {
	const v = 9.0
	way, err := newBarycentres(blob(22, 30, v), blob(42, 36, v))
	if err != nil {
		t.Fatal(err)
	}
	const s2, epsilon = v + softness, wander
	c := (math.Sqrt(epsilon*epsilon+4*s2*s2) - epsilon) / 2
	for _, part := range []float64{0, 0.25, 0.5, 0.75, 1} {
		at := wayMargin + (1-2*wayMargin)*part
		wantV := s2*(1-2*at*(1-at)) + 2*at*(1-at)*c + epsilon*at*(1-at)
		grey := make([]float64, side*side)
		way.draw(grey, part)
		mean, variance := moments(grey)
		if math.Abs(mean[0]-(22+20*at)) > 0.02 || math.Abs(mean[1]-(30+6*at)) > 0.02 {
			t.Errorf("t = %g: at %v; want (%g, %g)", at, mean, 22+20*at, 30+6*at)
		}
		if math.Abs(variance[0]-wantV) > 0.4 || math.Abs(variance[1]-wantV) > 0.4 {
			t.Errorf("t = %g: variances %v; want %g", at, variance, wantV)
		}
		if slices.Min(grey) < 0 || math.Abs(slices.Max(grey)-1) > 1e-12 {
			t.Errorf("t = %g: values from %g to %g; want 0 to 1", at, slices.Min(grey), slices.Max(grey))
		}
	}
}

// A picture that only shifts keeps its shape along the path except for the variance ε of the bridge: its variance grows by at most ε t(1-t) ≤ 2 px².
func TestBarycentresOfAShiftedShape(t *testing.T) {
	shifted := func(by float64) []float64 {
		return shape(func(x, y float64) float64 {
			return math.Exp(-math.Pow(math.Hypot(x-by, y)-9, 2)/8) * (1 + (x-by)/20)
		})
	}
	way, err := newBarycentres(shifted(-6), shifted(6))
	if err != nil {
		t.Fatal(err)
	}
	first, before := moments(way[0])
	middle, between := moments(way[stops/2])
	if math.Abs(middle[0]-first[0]-6*(1-2*wayMargin)) > 0.05 || math.Abs(middle[1]-first[1]) > 0.05 {
		t.Errorf("from %v to %v; want half of the 12 px, within the 1e-3 of the mass that may be astray", first, middle)
	}
	for axis := range before {
		if grown := between[axis] - before[axis]; grown < -1 || grown > 2 {
			t.Errorf("axis %d: the variance grew by %g px²; want -1 to 2", axis, grown)
		}
	}
}

// Pictures at even steps of t have even distances, and a finer step gives a smaller change, so the path has no jumps. Measured with the substitutes: 0.60 to
// 0.81.
func TestBarycentresMoveSmoothly(t *testing.T) {
	way, err := newBarycentres(ring(), pebble())
	if err != nil {
		t.Fatal(err)
	}
	shortest, longest := math.Inf(1), 0.0
	for i := range stops - 1 {
		d := distance(way[i], way[i+1])
		shortest, longest = min(shortest, d), max(longest, d)
	}
	if longest > 2*shortest {
		t.Errorf("steps from %g to %g; want a factor of 2 at most", shortest, longest)
	}
	if ends := distance(way[0], way[stops-1]); ends < 10*longest {
		t.Errorf("the ends are %g apart, a step %g: want a way", ends, longest)
	}
	grey, next := make([]float64, side*side), make([]float64, side*side)
	for k := range 200 {
		at := float64(k) / 200
		way.draw(grey, at)
		way.draw(next, at+1.0/200)
		if d := distance(grey, next); d > 1.01*longest*(stops-1)/200 {
			t.Errorf("from t = %g a step of 1/200 changes the picture by %g", at, d)
		}
	}
}

// If a hundredth of the mass would have to cross 60 px of darkness, the iteration reports that it did not converge.
func TestBarycentresTooFarApart(t *testing.T) {
	pair := func(share float64) []float64 {
		a, b := blob(8, 8, 2), blob(56, 56, 2)
		for i := range a {
			a[i] = share*a[i] + (1-share)*b[i]
		}
		return a
	}
	if _, err := newBarycentres(pair(0.5), pair(0.49)); err == nil || !strings.Contains(err.Error(), "give two pictures that are more similar") {
		t.Errorf("error %v; want one that says so", err)
	}
}

// z maps linearly from its range over the path to the way from the first object to the second. Beyond the range the first or last picture is drawn.
func TestWassersteinRange(t *testing.T) {
	s := mustNew(t, "wasserstein-ou", Options{Frames: 500, Seed: 3})
	w := s.draw.(*wasserstein)
	var p Picture
	p.reset(s.Format())
	for _, c := range []struct {
		part   float64
		inside bool
	}{{-0.1, false}, {0, true}, {0.3, true}, {0.77, true}, {1, true}, {1.2, false}} {
		if got := w.render(&p, []float64{w.lo + c.part*(w.hi-w.lo)}, 0); got != c.inside {
			t.Errorf("%g of the range: inside is %t", c.part, got)
		}
		want := make([]float64, side*side)
		w.between.draw(want, min(max(c.part, 0), 1))
		for i, v := range want {
			for channel := range 3 {
				if math.Abs(float64(p.F32[3*i+channel])-v) > 1e-6 { // float32
					t.Fatalf("%g of the range: pixel %d is %g; want %g", c.part, i, p.F32[3*i+channel], v)
				}
			}
		}
	}
	for {
		truth, err := s.Next(&p)
		if err == io.EOF {
			break
		}
		if !truth.Inside {
			t.Fatalf("t = %g: outside", truth.T)
		}
	}
}

// The picture of geometric Brownian motion is linear in x = exp(z), while the truth is z, a Brownian motion.
func TestGBMShowsTheExponential(t *testing.T) {
	s := mustNew(t, "wasserstein-gbm", Options{Frames: 300, Seed: 3})
	w := s.draw.(*wasserstein)
	z, e := s.path, newPath(&s.kind.law, 0, 3)
	box := e.extent(300)
	if w.lo != box.lo[0] || w.hi != box.hi[0] || w.lo <= 0 {
		t.Fatalf("shows %g to %g; want the range of exp(z)", w.lo, w.hi)
	}
	var p Picture
	for range 300 {
		truth, err := s.Next(&p)
		if err != nil {
			t.Fatal(err)
		}
		if truth.Mu[0] != 0 || z.shown[0] != math.Exp(truth.Z[0]) || !truth.Inside {
			t.Fatalf("z = %g shows %g with drift %g", truth.Z[0], z.shown[0], truth.Mu[0])
		}
	}
}

// The ball covers the background without mixing colours. Elsewhere the background is the picture of z₃ alone.
func TestBallOverBackground(t *testing.T) {
	s := mustNew(t, "ball-wasserstein-ou", Options{Frames: 500, Seed: 3})
	b := s.draw.(*ballWasserstein)
	var p, behind Picture
	behind.reset(s.Format())
	for range 500 {
		truth, err := s.Next(&p)
		if err != nil {
			t.Fatal(err)
		}
		if !truth.Inside || !b.behind.draw(&behind, truth.Z[2]) {
			t.Fatalf("t = %g: outside", truth.T)
		}
		x, _ := b.ball.plane.centre(0, truth.Z[0])
		y, _ := b.ball.plane.centre(1, truth.Z[1])
		for i := range side * side {
			away := math.Hypot(float64(i%side)+0.5-x, float64(i/side)+0.5-y)
			got := p.F32[3*i : 3*i+3]
			if away > ballRadius+0.5 && !slices.Equal(got, behind.F32[3*i:3*i+3]) {
				t.Fatalf("t = %g: pixel %d, %g px from the ball, is %v; want the background", truth.T, i, away, got)
			}
			if away < ballRadius-0.5 && (got[0] > 1e-6 || got[1] < 1-1e-6 || got[2] < 1-1e-6) {
				t.Fatalf("t = %g: pixel %d, %g px from the ball's centre, is %v; want yellow", truth.T, i, away, got)
			}
		}
	}
}

// view makes a PNG of width x height: a bright square around (x, y) on black.
func view(t *testing.T, width, height, x, y int) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, width, height))
	for j := -9; j < 9; j++ {
		for i := -9; i < 9; i++ {
			picture.SetGray(x+i, y+j, color.Gray{Y: 200})
		}
	}
	var buffer bytes.Buffer
	if err := png.Encode(&buffer, picture); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// Two different objects are chosen from the folder or its subfolder coil20. The same seed gives the same objects.
func TestCOILFiles(t *testing.T) {
	files := map[string][]byte{
		"obj1__0.png": view(t, 128, 128, 40, 40), "obj1__1.png": view(t, 128, 128, 44, 40),
		"obj2__0.png": view(t, 128, 128, 90, 70), "notes.txt": nil,
	}
	below := map[string][]byte{}
	for name, data := range files {
		below["coil20/"+name] = data
	}
	var first [2]float64
	for i, dir := range []string{folder(t, files), folder(t, below)} {
		s := mustNew(t, "wasserstein-ou", Options{Frames: 3, Seed: 4, Assets: dir})
		for _, borrows := range []*Scene{s, mustNew(t, "ball-wasserstein-ou", Options{Frames: 3, Seed: 4, Assets: dir}), mustNew(t, "ball-wasserstein-cauchy-normal", Options{Frames: 3, Seed: 4, Assets: dir})} {
			if got := borrows.Pictures(); got != "objects from COIL-20" {
				t.Errorf("%s says it draws %q", borrows.Name(), got)
			}
		}
		way := s.draw.(*wasserstein).between
		a, _ := moments(way[0])
		b, _ := moments(way[stops-1])
		// Squares around 40 or 44 and around 90 of 128 px lie at 20 or 22 and at 45 of 64 px, shifted by 1/32 of the path.
		if left, right := min(a[0], b[0]), max(a[0], b[0]); left < 20 || left > 23.5 || math.Abs(right-44.2) > 0.2 {
			t.Errorf("the ends lie at x = %g and %g; want 20 to 23.5 and 44.2", left, right)
		}
		if ends := [2]float64{a[0], b[0]}; i == 0 {
			first = ends
		} else if ends != first {
			t.Errorf("ends at %v in one folder, at %v in the other", first, ends)
		}
	}
}

func TestCOILRefuses(t *testing.T) {
	whole := view(t, 128, 128, 64, 64)
	both := func(data []byte) map[string][]byte {
		return map[string][]byte{"obj1__0.png": data, "obj2__0.png": data}
	}
	var black bytes.Buffer
	if err := png.Encode(&black, image.NewGray(image.Rect(0, 0, 128, 128))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, want string
		files      map[string][]byte
	}{
		{"nothing", "holds 0 objects, two are needed: give a folder with COIL-20's files obj1__0.png", nil},
		{"one object", "holds 1 objects, two are needed", map[string][]byte{"obj1__0.png": whole, "obj1__1.png": whole}},
		{"no PNG", "__0.png: png: invalid format: not a PNG file: give a PNG", both([]byte("GIF89a, if anything"))},
		{"an empty file", "__0.png: unexpected EOF: give a PNG", both(nil)},
		{"a torn PNG", "__0.png: png: invalid format: unexpected EOF: download the file again", both(whole[:len(whole)-20])},
		{"a small one", "__0.png: the picture is 63x128, expected sides of 64 to 1024", both(view(t, 63, 128, 30, 30))},
		{"a large one", "__0.png: the picture is 1025x128", both(view(t, 1025, 128, 30, 30))},
		{"a black one", "__0.png: the picture is all black", both(black.Bytes())},
		{"a file named coil20", "make the folder readable", map[string][]byte{"coil20": nil}},
	} {
		_, err := New("wasserstein-ou", Options{Frames: 3, Seed: 1, Assets: folder(t, c.files)})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "scene wasserstein-ou: assets: ") {
			t.Errorf("%s: error %v; want one with %q", c.what, err, c.want)
		}
	}
	_, err := New("ball-wasserstein-ou", Options{Frames: 3, Assets: filepath.Join(t.TempDir(), "none")})
	if err == nil || !strings.Contains(err.Error(), "none does not exist") {
		t.Errorf("no folder: error %v", err)
	}
}

// A path exists between every pair of real objects, and its steps are even within a factor of 3.
func TestRealObjects(t *testing.T) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	for seed := range uint64(6) {
		way := mustNew(t, "wasserstein-ou", Options{Frames: 3, Seed: seed, Assets: data}).draw.(*wasserstein).between
		shortest, longest := math.Inf(1), 0.0
		for i := range stops - 1 {
			d := distance(way[i], way[i+1])
			shortest, longest = min(shortest, d), max(longest, d)
		}
		if longest > 3*shortest || shortest == 0 {
			t.Errorf("seed %d: steps from %g to %g; want a factor of 3 at most", seed, shortest, longest)
		}
	}
}

func BenchmarkNewWasserstein(b *testing.B) {
	for b.Loop() {
		mustNew(b, "wasserstein-ou", Options{Frames: 3, Seed: 1})
	}
}
