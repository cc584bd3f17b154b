package sim

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func mustDigits(t *testing.T, name string, o Options) (*Scene, *digits) {
	t.Helper()
	s := mustNew(t, name, o)
	return s, s.draw.(*digits)
}

// The centroid of each digit moves with its own two coordinates, all four with one scale. Distributing light bilinearly moves a centroid exactly, except for
// rounding of 1e-5 px in float32.
func TestDigitsKeepDistances(t *testing.T) {
	for _, name := range []string{"digits-constant", "digits-ou", "digits-circle"} {
		for shown := range 2 {
			s, d := mustDigits(t, name, Options{Frames: 1000, Seed: 7})
			d.ink[1-shown] = make([]float64, digitSide*digitSide)
			var p Picture
			var x0, y0 float64
			var z0 [2]float64
			for frame := 0; ; frame++ {
				truth, err := s.Next(&p)
				if err == io.EOF {
					break
				}
				if !truth.Inside {
					t.Fatalf("%s: t = %g: outside the picture", name, truth.T)
				}
				x, y := centroid(&p, 2)
				z := truth.Z[2*shown:]
				if frame == 0 {
					x0, y0, z0 = x, y, [2]float64(z)
				}
				if math.Abs(x-x0-d.plane.scale*(z[0]-z0[0])) > 1e-4 || math.Abs(y-y0-d.plane.scale*(z[1]-z0[1])) > 1e-4 {
					t.Fatalf("%s: digit %d moved by (%g, %g) px where z moved by (%g, %g) at %g px a unit",
						name, shown+1, x-x0, y-y0, z[0]-z0[0], z[1]-z0[1], d.plane.scale)
				}
			}
		}
	}
}

// The path fills the picture: its widest axis covers the 48 px range of a digit's centre.
func TestDigitsFillThePicture(t *testing.T) {
	s, d := mustDigits(t, "digits-ou", Options{Frames: 1000, Seed: 7})
	e := newPath(&s.kind.law, s.kind.length, 7).extent(1000)
	width := func(i int) float64 { return max(e.hi[i], e.hi[i+2]) - min(e.lo[i], e.lo[i+2]) }
	if got := d.plane.scale * max(width(0), width(1)); math.Abs(got-48) > 1e-9 {
		t.Errorf("the path spans %g px; want 48", got)
	}
}

// A step of δ px along an axis changes no pixel by more than δ, at any position relative to the pixels, because a bilinear share has slope 1.
func TestDigitsMoveSmoothly(t *testing.T) {
	_, d := mustDigits(t, "digits-ou", Options{Frames: 100, Seed: 2})
	p, q := Picture{}, Picture{}
	p.reset(d.format())
	q.reset(d.format())
	const step = 0.05
	for k := range 60 {
		clear(p.F32)
		clear(q.F32)
		x := 7.5 + step*float64(k)
		addRed(&p, d.ink[0], x, 9.3)
		addRed(&q, d.ink[0], x+step, 9.3)
		most := float32(0)
		for i := range p.F32 {
			most = max(most, max(p.F32[i]-q.F32[i], q.F32[i]-p.F32[i]))
		}
		if most > step+1e-6 || most == 0 {
			t.Errorf("from x = %g to %g a pixel changes by %g; want more than 0, at most %g", x, x+step, most, step)
		}
	}
}

func TestDigitsAddUpToOne(t *testing.T) {
	s, d := mustDigits(t, "digits-ou", Options{Frames: 100, Seed: 2})
	var p Picture
	p.reset(s.Format())
	if !d.render(&p, []float64{0.1, 0, 0.1, 0}, 0) {
		t.Fatal("the middle is reported outside")
	}
	both := slices.Clone(p.F32)
	d.ink[1] = make([]float64, len(d.ink[0]))
	d.render(&p, []float64{0.1, 0, 0.1, 0}, 0)
	brighter := 0
	for i, v := range both {
		if v > 1 || (i%3 != 2 && v != 0) {
			t.Fatalf("value %d is %g; want red in [0, 1] only", i, v)
		}
		if v > p.F32[i] {
			brighter++
		}
	}
	if slices.Max(both) != 1 || brighter == 0 {
		t.Errorf("two digits in one place: brightest %g, %d pixels brighter than one digit; want 1 and some", slices.Max(both), brighter)
	}
}

// At the edges a digit is drawn whole, also beyond them, where render returns false.
func TestDigitsAtTheEdges(t *testing.T) {
	for _, render := range []string{Subpixel, Integer} {
		s, d := mustDigits(t, "digits-ou", Options{Frames: 100, Seed: 2, Render: render})
		p := Picture{}
		p.reset(s.Format())
		for _, z := range []float64{-1e6, 1e6} {
			if d.render(&p, []float64{z, z, -z, -z}, 0) {
				t.Errorf("z = %g is reported inside", z)
			}
			want := 0.0
			for _, ink := range d.ink {
				for _, v := range ink {
					want += v
				}
			}
			got := 0.0
			for _, v := range p.F32 {
				got += float64(v)
			}
			if math.Abs(got-want) > 1e-4 { // float32 over 200 pixels
				t.Errorf("%s, z = %g: light of %g; want %g", render, z, got, want)
			}
		}
	}
}

func TestIntegerDigits(t *testing.T) {
	_, d := mustDigits(t, "digits-ou", Options{Frames: 100, Seed: 1, Render: Integer})
	for _, z := range []float64{-1.3, -0.2, 0.456, 1} {
		if px, _ := d.plane.centre(0, z); px != math.Trunc(px) {
			t.Errorf("z = %g is drawn at %g px; want a whole one", z, px)
		}
	}
}

// idx makes an IDX file of n pictures of width x height, of which number i is grey 10i+5 in its middle 4x4 and black elsewhere.
func idx(n, width, height int) []byte {
	file := binary.BigEndian.AppendUint32(nil, 0x803)
	for _, v := range []int{n, height, width} {
		file = binary.BigEndian.AppendUint32(file, uint32(v))
	}
	for i := range n {
		for y := range height {
			for x := range width {
				grey := byte(0)
				if max(x-width/2, width/2-1-x, y-height/2, height/2-1-y) < 2 {
					grey = byte(10*i + 5)
				}
				file = append(file, grey)
			}
		}
	}
	return file
}

func zipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// put writes a file into a new folder and returns the folder.
func put(t testing.TB, name string, data []byte) string {
	t.Helper()
	return folder(t, map[string][]byte{name: data})
}

// folder writes files into a new folder and returns it.
func folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The plain and the zipped file, in the folder or in its subfolder mnist, give the same two digits. Another seed gives other digits.
func TestMNISTFiles(t *testing.T) {
	file := idx(20, 28, 28)
	var first [2][]float64
	for i, dir := range []string{
		put(t, "t10k-images-idx3-ubyte", file),
		put(t, "t10k-images-idx3-ubyte.gz", zipped(t, file)),
		put(t, "mnist/train-images-idx3-ubyte", file),
		put(t, "mnist/train-images-idx3-ubyte.gz", zipped(t, file)),
	} {
		s, d := mustDigits(t, "digits-ou", Options{Frames: 3, Seed: 5, Assets: dir})
		if got := s.Pictures(); got != "digits from MNIST" {
			t.Errorf("the scene says it draws %q", got)
		}
		if i == 0 {
			first = d.ink
		}
		if !slices.Equal(first[0], d.ink[0]) || !slices.Equal(first[1], d.ink[1]) {
			t.Errorf("%s: other digits than in the first folder", dir)
		}
		// 4x4 of 28x28 pixels cover 16·(16/28)² of 16x16.
		for _, ink := range d.ink {
			sum, grey := 0.0, math.Round(slices.Max(ink)*255)
			for _, v := range ink {
				sum += v
			}
			if want := grey / 255 * 16 * 16 * 16 / (28 * 28); grey < 5 || math.Abs(sum-want) > 1e-9 {
				t.Errorf("grey %g sums to %g; want %g", grey, sum, want)
			}
		}
	}
	if slices.Equal(first[0], first[1]) {
		t.Error("one digit was drawn twice")
	}
	_, other := mustDigits(t, "digits-ou", Options{Frames: 3, Seed: 6, Assets: put(t, "t10k-images-idx3-ubyte", file)})
	if slices.Equal(first[0], other.ink[0]) && slices.Equal(first[1], other.ink[1]) {
		t.Error("two seeds drew the same digits")
	}
}

// The choice of digits does not change the path.
func TestAssetsLeaveThePathAlone(t *testing.T) {
	dir := put(t, "t10k-images-idx3-ubyte", idx(20, 28, 28))
	plain, borrowed := mustNew(t, "digits-ou", Options{Frames: 5, Seed: 5}), mustNew(t, "digits-ou", Options{Frames: 5, Seed: 5, Assets: dir})
	if got := plain.Pictures(); !strings.Contains(got, "stand-in digits: give --assets DIR") {
		t.Errorf("the scene says it draws %q", got)
	}
	var p, q Picture
	for range 5 {
		a, errA := plain.Next(&p)
		b, errB := borrowed.Next(&q)
		if errA != nil || errB != nil || !slices.Equal(a.Z, b.Z) || slices.Equal(p.F32, q.F32) {
			t.Fatalf("z = %v and %v (%v, %v); want the same z and other pictures", a.Z, b.Z, errA, errB)
		}
	}
}

func TestMNISTRefuses(t *testing.T) {
	const name = "t10k-images-idx3-ubyte"
	whole := idx(2, 28, 28)
	turned := slices.Clone(whole)
	turned[3] = 1
	zip := zipped(t, whole)
	for _, c := range []struct{ what, assets, want string }{
		{"no folder", filepath.Join(t.TempDir(), "none"), "none does not exist: give a folder"},
		{"a file", filepath.Join(put(t, name, whole), name), name + " is not a folder"},
		{"an empty folder", t.TempDir(), "holds no digits: give a folder with MNIST's file t10k-images-idx3-ubyte"},
		{"an empty file", put(t, name, nil), name + ": the file has no IDX header of 16 bytes"},
		{"labels", put(t, name, turned), name + ": the file begins with 0x00000801"},
		{"one picture", put(t, name, idx(1, 28, 28)), name + ": the file's header announces 1 pictures, expected 2 to 100000"},
		{"too many", put(t, name, []byte("\x00\x00\x08\x03\xff\xff\xff\xff\x00\x00\x00\x1c\x00\x00\x00\x1c")), "announces 4294967295 pictures"},
		{"large pictures", put(t, name, idx(2, 65, 28)), name + ": the file's header announces pictures of 65x28, expected sides of 16 to 64"},
		{"small pictures", put(t, name, idx(2, 28, 15)), "announces pictures of 28x15"},
		{"a torn file", put(t, name, whole[:len(whole)-1]), name + ": the file ends within picture 1 of 2"},
		{"no zip", put(t, name+".gz", whole), name + ".gz: gzip: invalid header: download the file again"},
		{"a torn zip", put(t, name+".gz", zip[:len(zip)/2]), name + ".gz: "},
		{"a folder of that name", put(t, name+"/x", nil), name},
	} {
		_, err := New("digits-ou", Options{Frames: 3, Seed: 1, Assets: c.assets})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "scene digits-ou: assets: ") {
			t.Errorf("%s: error %v; want one with %q", c.what, err, c.want)
		}
	}
}

func FuzzIDX(f *testing.F) {
	whole := idx(3, 28, 28)
	f.Add(whole, false, uint64(1))
	f.Add(zipped(f, whole), true, uint64(2))
	f.Add(idx(2, 16, 64), false, uint64(3))
	f.Add(whole[:1000], false, uint64(4))
	f.Add([]byte("\x00\x00\x08\x03\x00\x01\x86\xa0\x00\x00\x00\x40\x00\x00\x00\x40"), false, uint64(5))
	f.Fuzz(func(t *testing.T, data []byte, zip bool, seed uint64) {
		ink, err := readDigits(bytes.NewReader(data), zip, rand.New(rand.NewPCG(seed, assetStream)))
		if err != nil {
			return
		}
		for _, digit := range ink {
			if len(digit) != digitSide*digitSide || slices.Min(digit) < 0 || slices.Max(digit) > 1+1e-12 {
				t.Fatalf("%d values from %g to %g; want %d in [0, 1]", len(digit), slices.Min(digit), slices.Max(digit), digitSide*digitSide)
			}
		}
	})
}

// The glyphs lie completely inside their box and in its middle, and ten seeds choose different ones.
func TestGlyphs(t *testing.T) {
	seen := map[float64]bool{}
	for seed := range uint64(10) {
		ink, err := glyphs(rand.New(rand.NewPCG(seed, assetStream)))
		if err != nil {
			t.Fatal(err)
		}
		for _, digit := range ink {
			sum, rim := 0.0, 0.0
			for i, v := range digit {
				sum += v
				if x, y := i%digitSide, i/digitSide; min(x, y) == 0 || max(x, y) == digitSide-1 {
					rim += v
				}
			}
			seen[sum] = true
			if sum < 10 || rim != 0 {
				t.Errorf("seed %d: ink %g, on the rim %g; want more than 10, and 0", seed, sum, rim)
			}
		}
		if slices.Equal(ink[0], ink[1]) {
			t.Errorf("seed %d: one digit twice", seed)
		}
	}
	if len(seen) < 5 {
		t.Errorf("ten seeds chose %d different glyphs", len(seen))
	}
}

// Shrinking takes means over areas: a slanted plane keeps its mean, and an even grey stays as it is.
func TestShrink(t *testing.T) {
	slanted, even := make([]uint8, 28*30), make([]uint16, 70*64)
	mean := 0.0
	for i := range slanted {
		slanted[i] = uint8(i%28 + 3*(i/28))
		mean += float64(slanted[i]) / 255 / float64(len(slanted))
	}
	for i := range even {
		even[i] = math.MaxUint16
	}
	got := 0.0
	for _, v := range shrink(slanted, 28, 30, 16, 255) {
		got += v / (16 * 16)
	}
	if math.Abs(got-mean) > 1e-12 {
		t.Errorf("the mean is %g; want %g", got, mean)
	}
	for i, v := range shrink(even, 70, 64, 64, math.MaxUint16) {
		if math.Abs(v-1) > 1e-12 {
			t.Fatalf("pixel %d of an even grey is %g; want 1", i, v)
		}
	}
}

func TestRealDigits(t *testing.T) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	for seed := range uint64(6) {
		_, d := mustDigits(t, "digits-ou", Options{Frames: 3, Seed: seed, Assets: data})
		for _, ink := range d.ink {
			sum := 0.0
			for _, v := range ink {
				sum += v
			}
			// A digit of MNIST has 100 full pixels of 28x28 on average, which become a third here; a thin 1 has 20.
			if sum < 5 || sum > 90 || slices.Max(ink) < 0.5 {
				t.Errorf("seed %d: ink %g, darkest %g; want a digit", seed, sum, slices.Max(ink))
			}
		}
	}
}
