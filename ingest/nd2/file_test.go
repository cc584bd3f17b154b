package nd2

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

type entry = ingesttest.ND2Record

// opened opens a file, and fails the test if it is not readable.
func opened(t testing.TB, chunks ...ingesttest.ND2Chunk) *Film {
	t.Helper()
	b := ingesttest.ND2("Ver3.0", chunks...)
	film, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return film
}

// axes returns the sizes of a film.
func axes(f *Film) [3]int { return [3]int{f.Times, f.Channels, f.Slices} }

// number returns the number of a picture, from its first pixel.
func number(t *testing.T, f *Film, time, channel, slice int) int {
	t.Helper()
	var p tiff.Image
	found, err := f.Read(&p, time, channel, slice)
	if err != nil || !found {
		t.Fatalf("time %d, channel %d, slice %d: %v, %v", time, channel, slice, found, err)
	}
	first := int(binary.LittleEndian.Uint16(p.Pix))
	for i := range 12 {
		if got := int(binary.LittleEndian.Uint16(p.Pix[2*i:])); got != first+i || len(p.Pix) != 24 {
			t.Fatalf("pixel %d is %d behind %d, of %d bytes", i, got, first, len(p.Pix))
		}
	}
	if first%1000 != 100*channel {
		t.Fatalf("channel %d has %d", channel, first)
	}
	return first / 1000
}

// TestFilm: every picture along every axis is at its position.
func TestFilm(t *testing.T) {
	for _, c := range []struct {
		name       string
		components int
		count      int
		more       []ingesttest.ND2Chunk
		want       [3]int
		at         func(time, slice int) int
		interval   float64
	}{
		{"no loops", 1, 5, nil, [3]int{5, 1, 1}, func(t, _ int) int { return t }, 0},
		{"times", 2, 5, []ingesttest.ND2Chunk{ingesttest.ND2Loops(ingesttest.ND2Times(5, 40))}, [3]int{5, 2, 1}, func(t, _ int) int { return t }, 0.04},
		{"a run that was stopped", 1, 5, []ingesttest.ND2Chunk{ingesttest.ND2Loops(ingesttest.ND2Times(50, 40))}, [3]int{5, 1, 1}, func(t, _ int) int { return t }, 0.04},
		{"slices at each time", 3, 6, []ingesttest.ND2Chunk{ingesttest.ND2Loops(ingesttest.ND2Times(3, 40), ingesttest.ND2Slices(2))}, [3]int{3, 3, 2}, func(t, z int) int { return 2*t + z }, 0.04},
		{"times at each slice", 1, 6, []ingesttest.ND2Chunk{ingesttest.ND2Loops(ingesttest.ND2Slices(2), ingesttest.ND2Times(3, 40))}, [3]int{3, 1, 2}, func(t, z int) int { return t + 3*z }, 0.04},
		{"spectra between", 1, 6, []ingesttest.ND2Chunk{ingesttest.ND2Loops(ingesttest.ND2Times(3, 40), []entry{{"eType", int32(6)}, {"uLoopPars", []entry{{"uiCount", uint32(2)}}}}, ingesttest.ND2Slices(2))},
			[3]int{3, 1, 2}, func(t, z int) int { return 2*t + z }, 0.04},
		{"slices alone", 1, 4, []ingesttest.ND2Chunk{ingesttest.ND2Loops(ingesttest.ND2Slices(4))}, [3]int{1, 1, 4}, func(_, z int) int { return z }, 0},
		{"one position", 1, 3, []ingesttest.ND2Chunk{ingesttest.ND2Loops(ingesttest.ND2Times(3, 40), []entry{{"eType", uint32(2)}, {"uLoopPars", []entry{{"Points", []entry{{"", []entry{{"dPosX", 1.0}}}, {"", []entry{{"dPosX", 2.0}}}}}}}, {"pItemValid", []byte{1, 0}}})},
			[3]int{3, 1, 1}, func(t, _ int) int { return t }, 0.04},
		{"phases of time", 1, 5, []ingesttest.ND2Chunk{ingesttest.ND2Loops([]entry{{"eType", uint32(8)}, {"uLoopPars", []entry{{"pPeriodValid", []byte{1, 0, 1}}, {"pPeriod", []entry{
			{"", ingesttest.ND2Times(2, 10)[1][1]}, {"", ingesttest.ND2Times(7, 10)[1][1]}, {"", ingesttest.ND2Times(3, 20)[1][1]}}}}}})}, [3]int{5, 1, 1}, func(t, _ int) int { return t }, 0},
		{"a measured step", 1, 2, []ingesttest.ND2Chunk{ingesttest.ND2Loops([]entry{{"eType", uint32(1)}, {"uLoopPars", []entry{{"uiCount", uint32(2)}, {"dPeriod", 0.0}, {"dAvgPeriodDiff", 12.5}}}})}, [3]int{2, 1, 1}, func(t, _ int) int { return t }, 0.0125},
	} {
		film := opened(t, append(ingesttest.ND2Film(c.count, c.components, 40), c.more...)...)
		if axes(film) != c.want || film.Interval != c.interval {
			t.Errorf("%s: %v, every %g s; %v and %g expected", c.name, axes(film), film.Interval, c.want, c.interval)
			continue
		}
		for time := range film.Times {
			for slice := range film.Slices {
				want := c.at(time, slice)
				for channel := range film.Channels {
					if got := number(t, film, time, channel, slice); got != want {
						t.Errorf("%s: time %d, slice %d is picture %d, %d expected", c.name, time, slice, got, want)
					}
				}
				if ms, err := film.At(time, slice); err != nil || math.Abs(ms-(0.1+0.04*float64(want))) > 1e-12 {
					t.Errorf("%s: time %d, slice %d was taken at %g s (%v)", c.name, time, slice, ms, err)
				}
			}
		}
	}
}

// TestStored reads padded rows, zlib, bytes and floats.
func TestStored(t *testing.T) {
	rows := func(pixels []byte) (b []byte) {
		for y := range 3 {
			b = append(append(b, pixels[8*y:8*y+8]...), 0xee, 0xee, 0xee, 0xee)
		}
		return b
	}
	wide, packed := entry{"uiWidthBytes", uint32(12)}, entry{"eCompression", int32(0)}
	for name, c := range map[string]struct {
		more   []entry
		pixels []byte
	}{
		"rows with room":      {[]entry{wide}, rows(ingesttest.ND2Pixels(0, 1))},
		"longer":              {nil, append(ingesttest.ND2Pixels(0, 1), 1, 2, 3)},
		"zlib":                {[]entry{packed}, ingesttest.ND2Deflated(ingesttest.ND2Pixels(0, 1))},
		"zlib with room":      {[]entry{wide, packed}, ingesttest.ND2Deflated(rows(ingesttest.ND2Pixels(0, 1)))},
		"whole tiles, signed": {[]entry{{"uiTileWidth", uint32(4)}, {"uiTileHeight", int64(3)}, {"uiComp", uint64(1)}}, ingesttest.ND2Pixels(0, 1)},
	} {
		film := opened(t, ingesttest.ND2Attributes(4, 3, 1, 16, c.more...), ingesttest.ND2Picture(0, 0, c.pixels))
		if got := number(t, film, 0, 0, 0); got != 0 {
			t.Errorf("%s: picture %d", name, got)
		}
	}
	for bits, depth := range map[int]tiff.Depth{8: tiff.Uint8, 32: tiff.Float32} {
		film := opened(t, ingesttest.ND2Attributes(2, 1, 2, bits), ingesttest.ND2Picture(0, 0, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}))
		var p tiff.Image
		want := map[int][]byte{8: {1, 3}, 32: {4, 5, 6, 7, 12, 13, 14, 15}}[bits]
		if _, err := film.Read(&p, 0, 1, 0); err != nil || p.Depth != depth || !bytes.Equal(p.Pix, want) {
			t.Errorf("%d bits: %+v, %v", bits, p, err)
		}
	}
}

// planes returns a chunk with the names of channels and the size of a pixel.
func planes(names ...string) ingesttest.ND2Chunk {
	var list []entry
	for _, name := range names {
		list = append(list, entry{"a", []entry{{"sDescription", name}}})
	}
	return ingesttest.ND2Level("ImageMetadataSeqLV|0!", "SLxPictureMetadata", entry{"bCalibrated", true}, entry{"dCalibration", 0.065},
		entry{"sPicturePlanes", []entry{{"uiCount", uint32(len(names))}, {"sPlaneNew", list}}})
}

// TestDescribed: channel names and the pixel size are read from metadata, which may be packed. Invalid values are ignored.
func TestDescribed(t *testing.T) {
	film := opened(t, append(ingesttest.ND2Film(1, 2, 0), planes("DAPI", "GFP µ"))...)
	if strings.Join(film.Labels, ",") != "DAPI,GFP µ" || film.PixelUM != 0.065 {
		t.Errorf("%v, %g µm", film.Labels, film.PixelUM)
	}
	calibration := entry{"SLxCalibration", []entry{{"dCalibration", 0.11}}}
	film = opened(t, append(ingesttest.ND2Film(1, 1, 0), ingesttest.ND2Chunk{Name: "ImageCalibrationLV|0!", Data: calibration.Packed()}, ingesttest.ND2Chunk{Name: "ImageMetadataSeqLV|0!", Data: []byte{99}})...)
	if film.Labels != nil || film.PixelUM != 0.11 {
		t.Errorf("%v, %g µm", film.Labels, film.PixelUM)
	}
	film = opened(t, append(ingesttest.ND2Film(1, 1, 0), planes("DAPI", "GFP"))...)
	if film.Labels != nil {
		t.Errorf("%v of one channel", film.Labels)
	}
}

// TestGap: a picture that the map does not list is not found.
func TestGap(t *testing.T) {
	chunks := ingesttest.ND2Film(3, 1, 40)
	film := opened(t, chunks[0], chunks[1], chunks[3])
	var p tiff.Image
	if found, err := film.Read(&p, 1, 0, 0); found || err != nil || film.Times != 3 {
		t.Errorf("%v, %v, of %d", found, err, film.Times)
	}
	if v, err := film.At(1, 0); !math.IsNaN(v) || err != nil {
		t.Errorf("%g, %v", v, err)
	}
}
