package czi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"driftscope/ingest/bounded"
	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// TestRefused: the error for an unsupported feature is one line that names it.
func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*ingesttest.CZI){
		"part 2 of several files":                    func(f *ingesttest.CZI) { f.Part = 2 },
		"picture 2 of 4: it is in part 1":            func(f *ingesttest.CZI) { f.Pictures[1].Part = 1 },
		"no directory of pictures":                   func(f *ingesttest.CZI) { f.Unended = true },
		"no picture in full size, only 0":            func(f *ingesttest.CZI) { f.Pictures = nil },
		"compressed as JPEG XR, no compression or Z": func(f *ingesttest.CZI) { f.Pictures[1].Compression = 4 },
		"compressed as JPEG, no compression or Z":    func(f *ingesttest.CZI) { f.Pictures[1].Compression = 1 },
		"compressed as LZW, no compression or Z":     func(f *ingesttest.CZI) { f.Pictures[1].Compression = 2 },
		"compressed as number 1000":                  func(f *ingesttest.CZI) { f.Pictures[1].Compression = 1000 },
		"pixels of type Bgra32, Gray8":               func(f *ingesttest.CZI) { f.Pictures[1].Pixel = 9 },
		"pixels of type number 77":                   func(f *ingesttest.CZI) { f.Pictures[1].Pixel = 77 },
		"several scenes":                             func(f *ingesttest.CZI) { add(f, "S") },
		"several tiles of a mosaic":                  func(f *ingesttest.CZI) { add(f, "M") },
		`several positions along an axis "Q"`:        func(f *ingesttest.CZI) { add(f, "Q") },
		"several tiles of the picture at time 1,":    func(f *ingesttest.CZI) { f.Pictures[1].Axes = f.Pictures[0].Axes },
		`the entry has 2 pictures along "T"`:         func(f *ingesttest.CZI) { f.Pictures[1].Axes[4].Size = 2 },
		`length 0 along "X"`:                         func(f *ingesttest.CZI) { f.Pictures[1].Axes[0].Size = 0 },
		"the picture has 100000x100000 pixels of 2":  func(f *ingesttest.CZI) { f.Pictures[1].Axes[0].Size, f.Pictures[1].Axes[1].Size = 100000, 100000 },
		"positions along T, at most":                 func(f *ingesttest.CZI) { f.Pictures[1].Axes[4].Start = 1 << 30 },
		"the entry has 18 axes": func(f *ingesttest.CZI) {
			f.Pictures[1].Axes = append(f.Pictures[1].Axes, make([]ingesttest.CZIAxis, 13)...)
		},
	} {
		f := ingesttest.CZIFilm(2, 2, 1)
		change(f)
		b := f.Bytes()
		_, err := Open(bytes.NewReader(b), int64(len(b)))
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%v; one line with %q expected", err, want)
		}
		for _, kind := range []string{"several", "it is in part", "compressed as", "pixels of type", "pictures along", "positions along"} {
			if err != nil && strings.Contains(want, kind) && !strings.HasSuffix(err.Error(), "("+tiff.Page+")") {
				t.Errorf("%v; the page at its end expected", err)
			}
		}
	}
	if _, err := Open(strings.NewReader(strings.Repeat("x", 200)), 200); err == nil || !strings.Contains(err.Error(), "ZISRAWFILE expected") {
		t.Errorf("%v", err)
	}
}

// add gives pictures different positions along an additional axis.
func add(f *ingesttest.CZI, letter string) {
	for i := range f.Pictures {
		f.Pictures[i].Axes = append(f.Pictures[i].Axes, ingesttest.CZIAxis{Letter: letter, Start: i, Size: 1})
	}
}

// TestDamaged: a damaged picture gives an error only for this picture.
func TestDamaged(t *testing.T) {
	for want, change := range map[string]func(p *ingesttest.CZIPicture){
		"the picture has 23 bytes, 24 expected":          func(p *ingesttest.CZIPicture) { p.Data = p.Data[:23] },
		"bytes of Zstandard":                             func(p *ingesttest.CZIPicture) { p.Compression = 5 },
		"it unpacks to 22 bytes, 24":                     func(p *ingesttest.CZIPicture) { p.Compression, p.Data = 5, packed(t, p.Data[:22]) },
		"12 bytes of Zstandard":                          func(p *ingesttest.CZIPicture) { p.Compression, p.Data = 5, packed(t, make([]byte, 1<<20))[:12] },
		"the header in front of Zstandard is incomplete": func(p *ingesttest.CZIPicture) { p.Compression, p.Data = 6, []byte{9, 1, 1} },
		"in front of Zstandard is 0200": func(p *ingesttest.CZIPicture) {
			p.Compression, p.Data = 6, append([]byte{3, 2, 0}, packed(t, p.Data)...)
		},
	} {
		f := ingesttest.CZIFilm(2, 1, 1)
		change(&f.Pictures[0])
		film := opened(t, f)
		var p tiff.Image
		if _, err := film.Read(&p, 0, 0, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; %q expected", err, want)
		}
		if found, err := film.Read(&p, 1, 0, 0); !found || err != nil || word(&p, 3) != 1003 {
			t.Errorf("the next picture: %v, %v", found, err)
		}
	}
}

// TestTorn: a file that was cut off is rejected, or its pictures beyond the end give errors.
func TestTorn(t *testing.T) {
	whole := ingesttest.CZIFilm(2, 1, 1).Bytes()
	for n := range len(whole) - 16 {
		if _, err := Open(bytes.NewReader(whole[:n]), int64(n)); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(whole))
		}
	}
	b := bytes.Clone(whole)
	entry := bytes.LastIndex(b, []byte("DV"))
	binary.LittleEndian.PutUint64(b[entry+6:], 1<<40)
	film, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var p tiff.Image
	if _, err := film.Read(&p, 1, 0, 0); !errors.Is(err, bounded.ErrTorn) {
		t.Errorf("%v, torn expected", err)
	}
}

// FuzzOpen: for any bytes, Open returns an error of one line, or pictures are within their bounds.
func FuzzOpen(f *testing.F) {
	small := ingesttest.CZIFilm(2, 2, 1)
	f.Add(small.Bytes())
	small.Metadata, small.Stamps = metadata, []float64{0, 1}
	for i := range small.Pictures {
		small.Pictures[i].Tags = "<AcquisitionTime>2026-11-26T05:00:00Z</AcquisitionTime>"
		small.Pictures[i].Compression, small.Pictures[i].Data = 6, append([]byte{3, 1, 1}, packed(f, small.Pictures[i].Data)...)
	}
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		film, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("not one line: %q", err)
			}
			return
		}
		defer film.Close()
		if film.Times > bounded.MaxFrames || !(film.Interval >= 0) {
			t.Fatalf("%+v", film)
		}
		var p tiff.Image
		for n := range min(film.Times, 3) {
			if _, err := film.At(n, 0, 0); err != nil && strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("not one line: %q", err)
			}
			found, err := film.Read(&p, n, film.Channels-1, film.Slices-1)
			if found && err == nil && (len(p.Pix) != p.Width*p.Height*p.Channels*p.Depth.Bytes() || len(p.Pix) > tiff.MaxBytes) {
				t.Fatalf("%d bytes of %+v", len(p.Pix), p)
			}
		}
	})
}
