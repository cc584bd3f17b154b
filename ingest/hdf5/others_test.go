package hdf5

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"driftscope/ingest/tiff"
)

// unzipped returns the files of testdata, which h5py wrote (SOURCE.txt).
var unzipped = sync.OnceValue(func() map[string][]byte {
	archive, err := zip.OpenReader("testdata/h5py.zip")
	if err != nil {
		panic(err)
	}
	defer archive.Close()
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			panic(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			panic(err)
		}
	}
	return files
})

// found returns the path of a dataset in a file of several groups.
func found(t testing.TB, file []byte, name string) string {
	t.Helper()
	f, err := openFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	s := search{file: f, seen: map[uint64]bool{}}
	if err := s.visit(f.root, "/", 0); err != nil {
		t.Fatal(err)
	}
	for _, d := range s.found {
		if strings.HasSuffix(d.path, "/"+name) {
			return d.path
		}
	}
	t.Fatalf("no dataset %s, there is %s", name, list(s.found))
	return ""
}

// opened opens the film in a dataset of a file of testdata.
func opened(t testing.TB, file, name, axes string) *Image {
	t.Helper()
	b := unzipped()[file]
	image, err := Open(bytes.NewReader(b), int64(len(b)), found(t, b, name), axes)
	if err != nil {
		t.Fatalf("%s %s: %v", file, name, err)
	}
	return image
}

// written returns the number that testdata/make.py writes at a position.
func written(kind string, time, channel, slice, y, x int) float64 {
	v := 1000*time + 300*channel + 100*slice + 16*y + x
	switch kind {
	case "u1":
		return float64(v % 251)
	case "i1":
		return float64(v%251 - 125)
	case "u":
		return float64(v)
	}
	return float64(v - 2000)
}

// sample returns a pixel of a picture.
func sample(picture *tiff.Image, y, x int) float64 {
	at := (y*picture.Width + x) * picture.Depth.Bytes()
	switch picture.Depth {
	case tiff.Uint8:
		return float64(picture.Pix[at])
	case tiff.Uint16:
		return float64(binary.LittleEndian.Uint16(picture.Pix[at:]))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(picture.Pix[at:])))
}

// compare reads every picture of a film and compares it with written.
func compare(t *testing.T, image *Image, kind string) {
	t.Helper()
	var picture tiff.Image
	for n := range image.Times * image.Channels * image.Slices {
		time, channel, slice := n/(image.Channels*image.Slices), n/image.Slices%image.Channels, n%image.Slices
		missing, err := image.Read(&picture, time, channel, slice)
		if err != nil || missing > 0 {
			t.Fatalf("%s: picture %d: %d missing, %v", image.Dataset, n, missing, err)
		}
		for y := range picture.Height {
			for x := range picture.Width {
				if got, want := sample(&picture, y, x), written(kind, time, channel, slice, y, x); got != want {
					t.Fatalf("%s at time %d, channel %d, slice %d: pixel %d, %d is %g, %g expected", image.Dataset, time, channel, slice, y, x, got, want)
				}
			}
		}
	}
}

// TestOthers: every pixel of every picture in datasets of h5py, in the oldest and the newest form, has the written value.
func TestOthers(t *testing.T) {
	for _, c := range []struct {
		name, kind, axes string
		depth            tiff.Depth
		size             [5]int // width, height, times, channels, slices
	}{
		{"plain", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"bytes", "u1", "", tiff.Uint8, [5]int{13, 11, 5, 1, 1}},
		{"big", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"float", "f", "", tiff.Float32, [5]int{13, 11, 5, 1, 1}},
		{"bigfloat", "f", "", tiff.Float32, [5]int{13, 11, 5, 1, 1}},
		{"double", "f", "", tiff.Float32, [5]int{13, 11, 5, 1, 1}},
		{"signed", "i", "", tiff.Float32, [5]int{13, 11, 5, 1, 1}},
		{"signedbytes", "i1", "", tiff.Float32, [5]int{13, 11, 5, 1, 1}},
		{"long", "u", "", tiff.Float32, [5]int{13, 11, 5, 1, 1}},
		{"singly", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"singlyzip", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"chunks", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"together", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"gzip", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"shuffle", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"shufflefloat", "f", "", tiff.Float32, [5]int{13, 11, 5, 1, 1}},
		{"fletcher", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"fletcherodd", "u1", "", tiff.Uint8, [5]int{13, 11, 5, 1, 1}},
		{"lzf", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"deep", "u", "", tiff.Uint16, [5]int{7, 5, 2, 3, 2}},
		{"channels", "u", "", tiff.Uint16, [5]int{7, 5, 3, 2, 1}},
		{"colours", "u1", "tyxc", tiff.Uint8, [5]int{7, 5, 3, 2, 1}},
		{"matlab", "u", "txy", tiff.Uint16, [5]int{7, 5, 3, 1, 1}},
		{"last", "u", "YXT", tiff.Uint16, [5]int{7, 5, 3, 1, 1}},
		{"picture", "u", "yx", tiff.Uint16, [5]int{7, 5, 1, 1, 1}},
		{"bounded", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"grows", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
		{"growswide", "u", "", tiff.Uint16, [5]int{13, 11, 5, 1, 1}},
	} {
		for _, file := range []string{"earliest.h5", "latest.h5"} {
			image := opened(t, file, c.name, c.axes)
			if got := [5]int{image.Width, image.Height, image.Times, image.Channels, image.Slices}; got != c.size || image.dataset.samples.Depth() != c.depth || image.Written() != image.Times {
				t.Fatalf("%s %s: %v of depth %d, %d written; %v and %d expected", file, c.name, got, image.dataset.samples.Depth(), image.Written(), c.size, c.depth)
			}
			compare(t, image, c.kind)
		}
	}
	compare(t, opened(t, "earliest.h5", "growsall", ""), "u")
	compare(t, opened(t, "earliest.h5", "growslast", ""), "u")
	for _, file := range []string{"compact.h5", "implicit.h5", "user.h5"} {
		compare(t, opened(t, file, "data", ""), "u")
	}
}

// TestIndexes: the test files contain every kind of chunk index that this package reads.
func TestIndexes(t *testing.T) {
	for name, want := range map[string]int{"singly": singly, "singlyzip": singly, "chunks": byArray, "manyzip": byArray, "bounded": byArray, "grows": byExtensible, "growszip": byExtensible} {
		if got := opened(t, "latest.h5", name, "").dataset.layout.index; got != want {
			t.Errorf("%s has an index of kind %d, %d expected", name, got, want)
		}
	}
	if got := opened(t, "implicit.h5", "data", "").dataset.layout.index; got != implicitly {
		t.Errorf("implicit.h5 has an index of kind %d", got)
	}
}

// TestPages: an index of more than a thousand chunks, in pages or in a tree of several nodes, is read.
func TestPages(t *testing.T) {
	for _, file := range []string{"earliest.h5", "latest.h5"} {
		for name, times := range map[string]int{"many": 1500, "manyzip": 1500, "growslong": 3000, "growszip": 3000} {
			image := opened(t, file, name, "")
			if image.Times != times || image.Written() != times {
				t.Fatalf("%s %s: %d times, %d written", file, name, image.Times, image.Written())
			}
			var picture tiff.Image
			for n := range image.Times {
				if missing, err := image.Read(&picture, n, 0, 0); missing > 0 || err != nil {
					t.Fatalf("%s %s: picture %d: %d missing, %v", file, name, n, missing, err)
				}
				// 16 bits
				if got := sample(&picture, 1, 2); got != float64(uint16(1000*n+18)) {
					t.Fatalf("%s %s: picture %d has %g", file, name, n, got)
				}
			}
		}
	}
}

// TestLong: an extensible array with so many elements that its blocks have pages is read.
func TestLong(t *testing.T) {
	image := opened(t, "long.h5", "data", "")
	if image.Times != 140000 || image.Written() != 140000 {
		t.Fatalf("%d times, %d written", image.Times, image.Written())
	}
	var picture tiff.Image
	for n := 0; n < image.Times; n += 7 {
		if missing, err := image.Read(&picture, n, 0, 0); missing > 0 || err != nil || picture.Pix[0] != byte(n%251) {
			t.Fatalf("picture %d: %v, %d missing, %v", n, picture.Pix, missing, err)
		}
	}
}

// TestUnwritten: chunks that were never written are counted and have the fill value.
func TestUnwritten(t *testing.T) {
	var picture tiff.Image
	for _, file := range []string{"earliest.h5", "latest.h5"} {
		room := opened(t, file, "room", "")
		if room.Written() != 4 || room.Times != 6 {
			t.Errorf("%s: %d of %d written, 4 of 6 expected", file, room.Written(), room.Times)
		}
		for n, want := range []struct {
			missing int
			last    float64
		}{{0, 172}, {0, 1172}, {1, 7}, {0, 7}} {
			missing, err := room.Read(&picture, n, 0, 0)
			if got := sample(&picture, 10, 12); err != nil || missing != want.missing || got != want.last {
				t.Errorf("%s: frame %d: %d missing, the last pixel %g (%v); %+v expected", file, n, missing, got, err, want)
			}
		}
		halves := opened(t, file, "halves", "")
		missing, err := halves.Read(&picture, 2, 0, 0)
		if err != nil || missing != 1 || halves.Tiles() != 2 || sample(&picture, 5, 12) != 2092 || sample(&picture, 6, 0) != 7 {
			t.Errorf("%s: %d of %d missing, %g and %g (%v)", file, missing, halves.Tiles(), sample(&picture, 5, 12), sample(&picture, 6, 0), err)
		}
		gaps := opened(t, file, "growsgaps", "")
		missing, err = gaps.Read(&picture, 2999, 0, 0)
		if err != nil || missing != 0 || sample(&picture, 1, 1) != 1 || gaps.Written() != 3000 {
			t.Errorf("%s: %d missing, %g, %d written (%v)", file, missing, sample(&picture, 1, 1), gaps.Written(), err)
		}
		if missing, err = gaps.Read(&picture, 2000, 0, 0); err != nil || missing != 1 {
			t.Errorf("%s: %d missing (%v)", file, missing, err)
		}
		if empty := opened(t, file, "empty", ""); empty.Written() != 0 {
			t.Errorf("%s: %d written of none", file, empty.Written())
		}
	}
}

// TestDense: groups of the newest form with links in a heap, of one block or of many, are read.
func TestDense(t *testing.T) {
	for file, count := range map[string]int{"dense.h5": 20, "densest.h5": 700} {
		b := unzipped()[file]
		f, err := openFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		s := search{file: f, seen: map[uint64]bool{}}
		if err := s.visit(f.root, "/", 0); err != nil || len(s.found) != count {
			t.Fatalf("%s: %d datasets, %v; %d expected", file, len(s.found), err, count)
		}
		names := map[string]bool{}
		for _, d := range s.found {
			names[d.path] = true
		}
		for n := range count {
			if name := fmt.Sprintf("/data%d", n); !names[name] {
				t.Errorf("%s has no %s", file, name)
			}
		}
	}
}

// TestNames: the only film is found in a group of several nodes that also has a soft link.
func TestNames(t *testing.T) {
	b := unzipped()["names.h5"]
	image, err := Open(bytes.NewReader(b), int64(len(b)), "", "")
	if err != nil || image.Dataset != "/film" || len(image.Others) > 0 {
		t.Fatalf("%+v, %v", image, err)
	}
	compare(t, image, "u")
}

// TestPackings: chunks of every packing and byte order give the same pixels.
func TestPackings(t *testing.T) {
	var want []byte
	for _, p := range packings {
		file := written16(2, 4, p.big, p.filters, p.pack)
		image, err := Open(bytes.NewReader(file), int64(len(file)), "", "")
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		var picture tiff.Image
		missing, err := image.Read(&picture, 1, 0, 0)
		if want == nil {
			want = bytes.Clone(picture.Pix)
		}
		if err != nil || missing > 0 || len(want) != 32 || !bytes.Equal(picture.Pix, want) {
			t.Errorf("%s: %v, %d missing, %v; %v expected", p.name, picture.Pix, missing, err, want)
		}
	}
}
