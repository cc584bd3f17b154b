package czi

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// opened opens a file, and fails the test if it is not readable.
func opened(t testing.TB, f *ingesttest.CZI) *Film {
	t.Helper()
	b := f.Bytes()
	film, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(film.Close)
	return film
}

// packed returns data compressed with Zstandard.
func packed(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// halves returns all lower bytes, then all upper bytes.
func halves(data []byte) (b []byte) {
	for first := range 2 {
		for i := first; i < len(data); i += 2 {
			b = append(b, data[i])
		}
	}
	return b
}

// word returns pixel n of a picture.
func word(p *tiff.Image, n int) uint16 { return binary.LittleEndian.Uint16(p.Pix[2*n:]) }

// TestFilm: every picture along every axis is at its position, for every packing and any order in the file.
func TestFilm(t *testing.T) {
	for name, pack := range map[string]func(*ingesttest.CZIPicture){
		"plain":      func(*ingesttest.CZIPicture) {},
		"longer":     func(p *ingesttest.CZIPicture) { p.Data = append(p.Data, 1, 2, 3) },
		"zstd0":      func(p *ingesttest.CZIPicture) { p.Compression, p.Data = 5, packed(t, p.Data) },
		"zstd1 bare": func(p *ingesttest.CZIPicture) { p.Compression, p.Data = 6, append([]byte{1}, packed(t, p.Data)...) },
		"zstd1 as it is": func(p *ingesttest.CZIPicture) {
			p.Compression, p.Data = 6, append([]byte{3, 1, 0}, packed(t, p.Data)...)
		},
		"zstd1 in halves": func(p *ingesttest.CZIPicture) {
			p.Compression, p.Data = 6, append([]byte{3, 1, 1}, packed(t, halves(p.Data))...)
		},
		"more axes": func(p *ingesttest.CZIPicture) {
			p.Axes = append(p.Axes, ingesttest.CZIAxis{Letter: "S", Start: 2, Size: 1}, ingesttest.CZIAxis{Letter: "B", Size: 1}, ingesttest.CZIAxis{Letter: "H", Size: 1}, ingesttest.CZIAxis{Letter: "I", Size: 1}, ingesttest.CZIAxis{Letter: "V", Size: 1}, ingesttest.CZIAxis{Letter: "R", Size: 1}, ingesttest.CZIAxis{Letter: "M", Size: 1})
		},
		"with tags":      func(p *ingesttest.CZIPicture) { p.Tags = "<METADATA/>" },
		"counted from 5": func(p *ingesttest.CZIPicture) { p.Axes[4].Start += 5; p.Axes[2].Start -= 3 },
	} {
		f := ingesttest.CZIFilm(3, 2, 2)
		for i := range f.Pictures {
			pack(&f.Pictures[i])
		}
		f.Pictures[0], f.Pictures[7] = f.Pictures[7], f.Pictures[0]
		small := f.Pictures[3] // a reduced copy of this picture
		small.Axes = ingesttest.CZIAt(0, 0, 0, 4, 3)
		small.Axes[0].Stored, small.Axes[1].Stored = 2, 1
		f.Pictures = append(f.Pictures, small)
		film := opened(t, f)
		if film.Times != 3 || film.Channels != 2 || film.Slices != 2 {
			t.Fatalf("%s: %d times, %d channels, %d slices", name, film.Times, film.Channels, film.Slices)
		}
		var p tiff.Image
		for n := range 12 {
			when, c, z := n/4, n/2%2, n%2
			found, err := film.Read(&p, when, c, z)
			if err != nil || !found || p.Width != 4 || p.Height != 3 || p.Channels != 1 || p.Depth != tiff.Uint16 {
				t.Fatalf("%s: picture %d: %v, %v, %+v", name, n, found, err, p)
			}
			for i := range 12 {
				if got, want := word(&p, i), uint16(1000*when+100*c+20*z+i); got != want {
					t.Fatalf("%s: picture %d, pixel %d is %d, %d expected", name, n, i, got, want)
				}
			}
		}
	}
}

// TestPixels: all supported pixel types are read, and blue, green, red becomes red, green, blue.
func TestPixels(t *testing.T) {
	for _, c := range []struct {
		pixel    int
		data     []byte
		depth    tiff.Depth
		channels int
		want     []byte
	}{
		{gray8, []byte{1, 2}, tiff.Uint8, 1, []byte{1, 2}},
		{gray16, []byte{1, 2, 3, 4}, tiff.Uint16, 1, []byte{1, 2, 3, 4}},
		{float, []byte{1, 2, 3, 4, 5, 6, 7, 8}, tiff.Float32, 1, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{bgr24, []byte{1, 2, 3, 4, 5, 6}, tiff.Uint8, 3, []byte{3, 2, 1, 6, 5, 4}},
		{bgr48, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, tiff.Uint16, 3, []byte{5, 6, 3, 4, 1, 2, 11, 12, 9, 10, 7, 8}},
	} {
		film := opened(t, &ingesttest.CZI{Pictures: []ingesttest.CZIPicture{{Axes: ingesttest.CZIAt(0, 0, 0, 2, 1), Pixel: c.pixel, Data: c.data}}})
		var p tiff.Image
		if _, err := film.Read(&p, 0, 0, 0); err != nil || p.Depth != c.depth || p.Channels != c.channels || !bytes.Equal(p.Pix, c.want) {
			t.Errorf("type %d: %+v, %v; %v of depth %d expected", c.pixel, p, err, c.want, c.depth)
		}
	}
}

const metadata = `<?xml version="1.0" encoding="utf-8"?><ImageDocument><Metadata><Information><Image><Dimensions>
<Channels><Channel Id="Channel:0" Name="DAPI"/><Channel Id="Channel:1" Name="EGFP"/></Channels>
<T><Positions><Interval><Start>0</Start><Increment>0.25</Increment></Interval></Positions></T></Dimensions></Image></Information>
<Scaling><Items><Distance Id="X"><Value>6.5E-08</Value></Distance><Distance Id="Y"><Value>1.3e-7</Value></Distance><Distance Id="Z"><Value>x</Value></Distance></Items></Scaling>
</Metadata></ImageDocument>`

// TestMetadata: channel names, time step and pixel size are read. Invalid values are ignored.
func TestMetadata(t *testing.T) {
	f := ingesttest.CZIFilm(2, 2, 1)
	f.Metadata = metadata + "\x00\x00"
	film := opened(t, f)
	if strings.Join(film.Labels, " ") != "DAPI EGFP" || film.Interval != 0.25 || math.Abs(film.PixelUM[0]-0.065) > 1e-9 || math.Abs(film.PixelUM[1]-0.13) > 1e-9 {
		t.Errorf("%v, every %g s, %v µm", film.Labels, film.Interval, film.PixelUM)
	}
	for _, text := range []string{"<ImageDocument>", "no XML", strings.Replace(metadata, "0.25", "-1", 1), strings.Replace(metadata, "0.25", "1e999", 1)} {
		f.Metadata = text
		if film := opened(t, f); film.Interval != 0 || film.Times != 2 {
			t.Errorf("%.60q: %+v", text, film)
		}
	}
}

// TestTimes: times come from the file's time stamps, or else from the pictures' metadata, or are unknown.
func TestTimes(t *testing.T) {
	f := ingesttest.CZIFilm(3, 1, 1)
	at := func(film *Film, n int) float64 {
		v, err := film.At(n, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := at(opened(t, f), 1); !math.IsNaN(v) {
		t.Errorf("%g of nothing", v)
	}
	for i, text := range []string{"2026-11-26T05:00:00.5Z", "2026-11-26T05:00:00.75Z", "soon"} {
		f.Pictures[i].Tags = "<METADATA><Tags><AcquisitionTime>" + text + "</AcquisitionTime></Tags></METADATA>"
	}
	film := opened(t, f)
	if d := at(film, 1) - at(film, 0); d != 0.25 || !math.IsNaN(at(film, 2)) {
		t.Errorf("%g s from picture to picture, then %g", d, at(film, 2))
	}
	f.Stamps = []float64{0, 0.5, 1.5}
	if film := opened(t, f); at(film, 1) != 0.5 || at(film, 2) != 1.5 {
		t.Errorf("%g and %g", at(film, 1), at(film, 2))
	}
	f.Stamps = []float64{0, 0.5} // of a different film
	if film := opened(t, f); at(film, 1)-at(film, 0) != 0.25 {
		t.Errorf("%g", at(film, 1)-at(film, 0))
	}
}

// TestGap: a picture that the directory does not list is not found.
func TestGap(t *testing.T) {
	f := ingesttest.CZIFilm(3, 1, 1)
	f.Pictures = append(f.Pictures[:1:1], f.Pictures[2])
	film := opened(t, f)
	var p tiff.Image
	if found, err := film.Read(&p, 1, 0, 0); found || err != nil || film.Times != 3 {
		t.Errorf("%v, %v, of %d", found, err, film.Times)
	}
	if v, err := film.At(1, 0, 0); !math.IsNaN(v) || err != nil {
		t.Errorf("%g, %v", v, err)
	}
}
