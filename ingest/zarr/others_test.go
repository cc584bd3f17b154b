package zarr

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"driftscope/ingest/tiff"
)

// unzipped returns the stores of a file in testdata, in memory.
func unzipped(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	archive, err := zip.OpenReader("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	store := fstest.MapFS{}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		store[f.Name] = &fstest.MapFile{Data: data}
	}
	return store
}

// within returns one of several stores in a file system.
func within(t testing.TB, all fs.FS, name string) fs.FS {
	t.Helper()
	store, err := fs.Sub(all, name)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// written returns the number that the scripts of testdata write at a position.
func written(kind string, p Place, y, x, axes int) float64 {
	v := 1000*p.Time + 300*p.Channel + 100*p.Slice + 16*y + x
	if axes == 3 {
		v = 100*p.Time + 16*y + x
	}
	switch {
	case kind == "b1":
		return map[bool]float64{true: 255}[v%3 == 0]
	case kind == "u1":
		return float64(v % 251)
	case kind == "i1":
		return float64(v%251 - 125)
	case kind[0] == 'i' || kind[0] == 'f':
		return float64(v - 2000)
	}
	return float64(v)
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

// TestOthers: every pixel of every picture in stores of zarr-python and zarrita has the written value.
func TestOthers(t *testing.T) {
	for _, c := range []struct{ file, name, kind string }{
		{"v2.zip", "blosc-lz4", "u2"}, {"v2.zip", "blosc-lz4hc-bits", "u2"}, {"v2.zip", "blosc-zstd-bits", "f4"}, {"v2.zip", "blosc-zstd-8", "u1"},
		{"v2.zip", "blosc-zlib", "f8"}, {"v2.zip", "blosc-lz4-plain", "i4"}, {"v2.zip", "blosc-blocks", "u2"}, {"v2.zip", "blosc-blocks-bits", "u4"},
		{"v2.zip", "zstd", "b1"}, {"v2.zip", "gzip", "i2"}, {"v2.zip", "zlib-f", "u2"}, {"v2.zip", "raw", "i1"}, {"v2.zip", "together", "u2"},
		{"v3.zip", "raw", "u2"}, {"v3.zip", "zstd", "f4"}, {"v3.zip", "blosc", "u2"}, {"v3.zip", "transposed", "u2"},
		{"v3.zip", "sharded", "u2"}, {"v3.zip", "sharded-start", "u2"},
	} {
		t.Run(c.file+" "+c.name, func(t *testing.T) {
			image, err := Open(within(t, unzipped(t, c.file), c.name), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			interval, pixel := 0.02, [2]float64{0.108, 0.108}
			if c.file == "v3.zip" {
				interval, pixel = 0.05, [2]float64{0.1, 0.2}
			}
			if math.Abs(image.Interval-interval) > 1e-12 || image.PixelUM != pixel {
				t.Errorf("every %g s, pixels of %v µm; %g s and %v expected", image.Interval, image.PixelUM, interval, pixel)
			}
			last, err := image.Last(Place{}, false)
			if err != nil || last != image.Times()-1 {
				t.Errorf("the last is %d (%v), %d expected", last, err, image.Times()-1)
			}
			var picture tiff.Image
			for n := range image.Times() * image.Channels * image.Slices {
				p := Place{Time: n / image.Channels, Channel: n % image.Channels}
				missing, _, err := image.Read(&picture, p)
				if err != nil || missing > 0 {
					t.Fatalf("%+v: %d missing, %v", p, missing, err)
				}
				for y := range picture.Height {
					for x := range picture.Width {
						if got, want := sample(&picture, y, x), written(c.kind, p, y, x, len(image.array.shape)); got != want {
							t.Fatalf("%+v: pixel %d, %d is %g, %g expected", p, x, y, got, want)
						}
					}
				}
			}
		})
	}
}
