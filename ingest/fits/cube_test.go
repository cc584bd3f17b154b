package fits

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"driftscope/ingest/tiff"
)

// build returns a file with the given cards, an END and data, each padded to whole blocks.
func build(cards []string, data []byte) []byte {
	var b bytes.Buffer
	for _, c := range append(cards, "END") {
		fmt.Fprintf(&b, "%-80.80s", c)
	}
	b.WriteString(strings.Repeat(" ", (blockSize-b.Len()%blockSize)%blockSize))
	b.Write(data)
	b.Write(make([]byte, (blockSize-b.Len()%blockSize)%blockSize))
	return b.Bytes()
}

// array returns the cards of a plain cube, followed by more.
func array(bitpix, width, height, planes int, more ...string) []string {
	return append([]string{
		"SIMPLE  =                    T / conforms to the FITS standard",
		fmt.Sprintf("BITPIX  = %20d / bits a pixel", bitpix),
		"NAXIS   =                    3",
		fmt.Sprintf("NAXIS1  = %20d", width),
		fmt.Sprintf("NAXIS2  = %20d", height),
		fmt.Sprintf("NAXIS3  = %20d", planes),
	}, more...)
}

func open(t *testing.T, file []byte) *Cube {
	t.Helper()
	c, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// value returns pixel i of a page.
func value(page *tiff.Image, i int) float64 {
	switch page.Depth {
	case tiff.Uint8:
		return float64(page.Pix[i])
	case tiff.Uint16:
		return float64(binary.LittleEndian.Uint16(page.Pix[2*i:]))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(page.Pix[4*i:])))
}

// Two planes of 3 x 2 pixels are read in the file's order, with the values that the standard defines.
func TestPixels(t *testing.T) {
	bigEndian := func(values any) []byte {
		b, err := binary.Append(nil, binary.BigEndian, values)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name   string
		bitpix int
		more   []string
		data   []byte
		depth  tiff.Depth
		want   [12]float64
	}{
		{"bytes", 8, nil, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 254, 255}, tiff.Uint8, [12]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 254, 255}},
		{"signed bytes", 8, []string{"BZERO   =                 -128"}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 254, 255}, tiff.Float32,
			[12]float64{-128, -127, -126, -125, -124, -123, -122, -121, -120, -119, 126, 127}},
		{"counts", 16, []string{"BZERO   =              3.2768E4 / unsigned", "BSCALE  =                  1.0"},
			bigEndian([12]int16{-32768, -32767, -1, 0, 1, 2, 3, 4, 5, 6, 7, 32767}), tiff.Uint16,
			[12]float64{0, 1, 32767, 32768, 32769, 32770, 32771, 32772, 32773, 32774, 32775, 65535}},
		{"signed counts", 16, nil, bigEndian([12]int16{-32768, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 32767}), tiff.Float32,
			[12]float64{-32768, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 32767}},
		{"scaled counts", 16, []string{"BSCALE  =                0.5D0", "BZERO   =                  100"},
			bigEndian([12]int16{-2, 0, 2, 4, 0, 0, 0, 0, 0, 0, 0, 1}), tiff.Float32, [12]float64{99, 100, 101, 102, 100, 100, 100, 100, 100, 100, 100, 100.5}},
		{"long counts", 32, nil, bigEndian([12]int32{-5, 0, 1 << 24, 70000, 0, 0, 0, 0, 0, 0, 0, 9}), tiff.Float32,
			[12]float64{-5, 0, 1 << 24, 70000, 0, 0, 0, 0, 0, 0, 0, 9}},
		{"floats", -32, nil, bigEndian([12]float32{-1.5, 0, 0.25, 3e30, 0, 0, 0, 0, 0, 0, 0, 7}), tiff.Float32,
			[12]float64{-1.5, 0, 0.25, float64(float32(3e30)), 0, 0, 0, 0, 0, 0, 0, 7}},
		{"doubles", -64, nil, bigEndian([12]float64{-1.5, 0, 0.1, 3, 0, 0, 0, 0, 0, 0, 0, 7}), tiff.Float32,
			[12]float64{-1.5, 0, float64(float32(0.1)), 3, 0, 0, 0, 0, 0, 0, 0, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cube := open(t, build(array(c.bitpix, 3, 2, 2, c.more...), c.data))
			if cube.Width != 3 || cube.Height != 2 || cube.Planes != 2 || cube.Depth() != c.depth {
				t.Fatalf("%d planes of %dx%d, depth %d", cube.Planes, cube.Width, cube.Height, cube.Depth())
			}
			var page tiff.Image
			for plane := range 2 {
				if err := cube.Read(&page, plane); err != nil {
					t.Fatal(err)
				}
				if page.Width != 3 || page.Height != 2 || page.Channels != 1 || page.Depth != c.depth || len(page.Pix) != 6*c.depth.Bytes() {
					t.Fatalf("a page of %dx%d, %d channels, depth %d, %d bytes", page.Width, page.Height, page.Channels, page.Depth, len(page.Pix))
				}
				for i := range 6 {
					if got, want := value(&page, i), c.want[6*plane+i]; got != want {
						t.Errorf("plane %d, pixel %d is %g; want %g", plane, i, got, want)
					}
				}
			}
		})
	}
}

func TestPicture(t *testing.T) {
	cards := array(8, 2, 1, 1)
	cards[2], cards[5] = "NAXIS   =                    2", "COMMENT one picture"
	if cube := open(t, build(cards, []byte{1, 2})); cube.Planes != 1 {
		t.Errorf("%d planes; want 1", cube.Planes)
	}
}

// A header may have several blocks. The first of two equal keywords counts, and a remark is not a value.
func TestHeader(t *testing.T) {
	cards := array(8, 1, 1, 1, "KCT     =         5.000000E-02 / Kinetic Cycle Time", "KCT     =                    9", "EXPOSURE=              1.5D-02",
		"GAIN    =             'fast / slow'", "HISTORY = 7", "TEMP    =                  NaN")
	for i := range 100 {
		cards = append(cards, fmt.Sprintf("COMMENT line %d", i))
	}
	cube := open(t, build(append(cards, "LAST    = 4"), []byte{1}))
	for keyword, want := range map[string]float64{"KCT": 0.05, "EXPOSURE": 0.015, "LAST": 4} {
		if got, found := cube.Number(keyword); !found || got != want {
			t.Errorf("%s is %g, %t; want %g", keyword, got, found, want)
		}
	}
	for _, keyword := range []string{"GAIN", "TEMP", "COMMENT", "ABSENT"} {
		if got, found := cube.Number(keyword); found {
			t.Errorf("%s is %g; want none", keyword, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	with := func(i int, card string) []byte {
		cards := array(16, 4, 4, 2)
		cards[i] = card
		return build(cards, make([]byte, 64))
	}
	whole := build(array(16, 40, 40, 2), make([]byte, 6400))
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "has no END within the file's first 0 bytes"},
		{whole[:100], "has no END"},
		{bytes.Repeat([]byte("x"), blockSize), `begins with "xxxxxxxxxx", "SIMPLE  =" expected`},
		{with(0, "SIMPLE  = F"), `SIMPLE is "F", T expected`},
		{with(1, "BITPIX  = 64"), "BITPIX is 64, one of 8, 16, 32, -32 and -64 expected"},
		{with(1, "COMMENT"), "BITPIX is missing"},
		{with(1, "BITPIX  = 'two'"), `BITPIX is "'two'", expected a whole number`},
		{with(2, "NAXIS   = 0"), "NAXIS is 0, 2 (a picture) or 3 (a cube, time last) expected"},
		{with(2, "NAXIS   = 4"), "NAXIS is 4"},
		{with(3, "NAXIS1  = 0"), "pictures have 0x4 pixels"},
		{with(3, "NAXIS1  = 16385"), "pictures have 16385x4 pixels, 1 to 16384 per side"},
		{with(4, "NAXIS2  = 99999999999999999999"), "expected a whole number"},
		{with(5, "NAXIS3  = -1"), "NAXIS3 is -1, at least one picture expected"},
		{with(5, "COMMENT"), "NAXIS3 is missing"},
		{with(5, "NAXIS3  = 9223372036854775807"), "promises 9223372036854775807 pictures of 4x4 pixels, but the file has only 90: it is torn"},
		{build(array(8, 4, 4, 1, "BSCALE  = 0"), nil), "BSCALE is 0"},
		{build(array(8, 4, 4, 1, "BZERO   = 1E999"), nil), `BZERO is "1E999", a finite number expected`},
		{build(array(8, 4, 4, 1, "REMARK  = \x00"), nil), "header card 7: it contains the byte 0x0"},
		{whole[:len(whole)-blockSize], "promises 2 pictures of 40x40 pixels, but the file has only 1: it is torn"},
		{bytes.Repeat(fmt.Appendf(nil, "%-80s", Magic), (maxBlocks+1)*36), "continues beyond"},
	} {
		_, err := Open(bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%v; want one line with %q", err, c.want)
		}
	}
}

// A file that shrinks during reading gives an error.
func TestShrunk(t *testing.T) {
	file := build(array(8, 60, 60, 2), make([]byte, 7200))
	cube, err := Open(bytes.NewReader(file[:len(file)-blockSize]), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var page tiff.Image
	if err := cube.Read(&page, 1); err == nil || !strings.Contains(err.Error(), "picture 2 of 2 could not be read") {
		t.Errorf("%v; want an error about picture 2", err)
	}
}

// FuzzOpen: for any bytes, the file gives pixels of the announced shape or an error of one line.
func FuzzOpen(f *testing.F) {
	for _, bitpix := range []int{8, 16, 32, -32, -64} {
		f.Add(build(array(bitpix, 3, 2, 2, "BZERO   = 32768", "BSCALE  = 1.0", "KCT     = 0.05"), make([]byte, 96)))
	}
	f.Add(build(array(8, 16384, 8192, 99999), []byte{1}))
	f.Fuzz(func(t *testing.T, file []byte) {
		cube, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("the error is not one line: %q", err)
			}
			return
		}
		var page tiff.Image
		for plane := range min(cube.Planes, 3) {
			if err := cube.Read(&page, plane); err != nil {
				t.Fatal(err)
			}
			if len(page.Pix) != cube.Width*cube.Height*page.Depth.Bytes() {
				t.Fatalf("%d bytes for %dx%d pixels of depth %d", len(page.Pix), cube.Width, cube.Height, page.Depth)
			}
		}
	})
}
