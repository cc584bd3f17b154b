package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/image/bmp"

	"driftscope/internal/flow/frame"
)

const codecWidth, codecHeight = 5, 3

// shade returns channel c of a pixel, with the given bits. It differs between positions.
func shade(x, y, c, bits int) int { return (x*7 + y*31 + c*101 + 13) * 977 % (1 << bits) }

// painted calls set with the three shades of every pixel.
func painted(bits int, set func(x, y int, r, g, b int)) {
	for y := range codecHeight {
		for x := range codecWidth {
			set(x, y, shade(x, y, 0, bits), shade(x, y, 1, bits), shade(x, y, 2, bits))
		}
	}
}

// encodedPNG returns a picture as PNG.
func encodedPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pictures returns a picture in every tested form of PNG and BMP, with the expected Mat: blue, green, red, without alpha.
func pictures(t *testing.T) map[string]struct {
	data []byte
	kind frame.MatType
} {
	area := image.Rect(0, 0, codecWidth, codecHeight)
	grey, deep := image.NewGray(area), image.NewGray16(area)
	colour, clear := image.NewRGBA(area), image.NewNRGBA(area)
	wide, wideClear := image.NewRGBA64(area), image.NewNRGBA64(area)
	painted(8, func(x, y, r, g, b int) {
		grey.SetGray(x, y, color.Gray{uint8(r)})
		colour.SetRGBA(x, y, color.RGBA{uint8(r), uint8(g), uint8(b), 255})
		clear.SetNRGBA(x, y, color.NRGBA{uint8(r), uint8(g), uint8(b), uint8(x * 50)})
	})
	painted(16, func(x, y, r, g, b int) {
		deep.SetGray16(x, y, color.Gray16{uint16(r)})
		wide.SetRGBA64(x, y, color.RGBA64{uint16(r), uint16(g), uint16(b), 65535})
		wideClear.SetNRGBA64(x, y, color.NRGBA64{uint16(r), uint16(g), uint16(b), uint16(x * 10000)})
	})
	var b bytes.Buffer
	if err := bmp.Encode(&b, colour); err != nil {
		t.Fatal(err)
	}
	var g bytes.Buffer
	if err := bmp.Encode(&g, grey); err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		data []byte
		kind frame.MatType
	}{
		"grey":                      {encodedPNG(t, grey), frame.MatTypeCV8UC1},
		"grey of 16 bits":           {encodedPNG(t, deep), frame.MatTypeCV16UC1},
		"colours":                   {encodedPNG(t, colour), frame.MatTypeCV8UC3},
		"colours and alpha":         {encodedPNG(t, clear), frame.MatTypeCV8UC3},
		"colours of 16 bits":        {encodedPNG(t, wide), frame.MatTypeCV16UC3},
		"the same and alpha":        {encodedPNG(t, wideClear), frame.MatTypeCV16UC3},
		"grey, one shade clear":     {withChunk(encodedPNG(t, grey), "tRNS", []byte{0, 7}), frame.MatTypeCV8UC1},
		"BMP in colours":            {b.Bytes(), frame.MatTypeCV8UC3},
		"BMP with a palette, grey":  {g.Bytes(), frame.MatTypeCV8UC1},
		"16 bits, one shade clear":  {withChunk(encodedPNG(t, deep), "tRNS", []byte{0, 7}), frame.MatTypeCV16UC1},
		"colours, one colour clear": {withChunk(encodedPNG(t, colour), "tRNS", []byte{0, 1, 0, 2, 0, 3}), frame.MatTypeCV8UC3},
	}
}

// withChunk inserts a chunk before a PNG's pixels.
func withChunk(data []byte, name string, content []byte) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	chunk = append(append(chunk, name...), content...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return slices.Insert(bytes.Clone(data), bytes.Index(data, []byte("IDAT"))-4, chunk...)
}

// TestDecode: builds with and without OpenCV decode the same pixels, because both decode the painted ones.
func TestDecode(t *testing.T) {
	for name, p := range pictures(t) {
		mat, err := Decode(p.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if mat.Type() != p.kind || mat.Rows() != codecHeight || mat.Cols() != codecWidth {
			t.Errorf("%s: %dx%d of type %v, %v expected", name, mat.Rows(), mat.Cols(), mat.Type(), p.kind)
		} else if !samePainted(t, &mat) {
			t.Errorf("%s has other pixels", name)
		}
		mat.Close()
	}
}

// samePainted reports whether a Mat has the painted shades.
func samePainted(t *testing.T, mat *frame.Mat) bool {
	t.Helper()
	data, err := mat.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	size := mat.ElemSize() / mat.Channels()
	same := true
	painted(8*size, func(x, y, r, g, b int) {
		want := []int{b, g, r}
		if mat.Channels() == 1 {
			want = want[2:]
		}
		for c, v := range want {
			at := ((y*codecWidth+x)*len(want) + c) * size
			got := int(data[at])
			if size == 2 {
				got = int(binary.NativeEndian.Uint16(data[at:]))
			}
			same = same && got == v
		}
	})
	return same
}

// TestDecodePalettes: a PNG's palette gives colours, even if all are grey. Grey of fewer bits is scaled to 8 bits.
func TestDecodePalettes(t *testing.T) {
	area := image.Rect(0, 0, 3, 1)
	for name, c := range map[string]struct {
		palette color.Palette
		want    []byte // blue, green, red of each pixel
	}{
		"grey":      {color.Palette{color.RGBA{9, 9, 9, 255}, color.RGBA{80, 80, 80, 255}, color.RGBA{200, 200, 200, 255}}, []byte{9, 9, 9, 80, 80, 80, 200, 200, 200}},
		"colours":   {color.Palette{color.RGBA{9, 8, 7, 255}, color.RGBA{80, 81, 82, 255}, color.RGBA{200, 0, 1, 255}}, []byte{7, 8, 9, 82, 81, 80, 1, 0, 200}},
		"and alpha": {color.Palette{color.NRGBA{9, 8, 7, 20}, color.RGBA{80, 81, 82, 255}, color.NRGBA{200, 0, 1, 100}}, []byte{7, 8, 9, 82, 81, 80, 1, 0, 200}},
	} {
		p := image.NewPaletted(area, c.palette)
		copy(p.Pix, []byte{0, 1, 2})
		mat, err := Decode(encodedPNG(t, p))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data, err := mat.DataPtrUint8(); err != nil || mat.Type() != frame.MatTypeCV8UC3 || !bytes.Equal(data, c.want) {
			t.Errorf("%s: type %v, %v, %v; %v expected", name, mat.Type(), data, err, c.want)
		}
		mat.Close()
	}
}

// TestEncodePNG: Decode and the standard library read back the pixels that EncodePNG wrote.
func TestEncodePNG(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for _, kind := range []frame.MatType{frame.MatTypeCV8UC1, frame.MatTypeCV8UC3, frame.MatTypeCV16UC1, frame.MatTypeCV16UC3} {
		mat := frame.NewMatWithSize(codecHeight, codecWidth, kind)
		data, err := mat.DataPtrUint8()
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		encoded, err := EncodePNG(nil, &mat)
		if err != nil {
			t.Fatalf("type %v: %v", kind, err)
		}
		again, err := Decode(encoded)
		if err != nil {
			t.Fatalf("type %v: %v", kind, err)
		}
		if read, err := again.DataPtrUint8(); err != nil || again.Type() != kind || !bytes.Equal(read, data) {
			t.Errorf("type %v comes back as %v, other pixels: %v, %v", kind, again.Type(), !bytes.Equal(read, data), err)
		}
		header, err := png.DecodeConfig(bytes.NewReader(encoded))
		if err != nil || header.Width != codecWidth || header.Height != codecHeight {
			t.Errorf("type %v: header %+v, %v", kind, header, err)
		}
		mat.Close()
		again.Close()
	}
}

// TestDecodeJPEG: a build that would decode different pixels rejects a JPEG. Every build rejects a damaged picture.
func TestDecodeJPEG(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 16)), nil); err != nil {
		t.Fatal(err)
	}
	mat, err := Decode(b.Bytes())
	switch {
	case err == nil:
		mat.Close()
	case !errors.Is(err, ErrNoDecoder):
		t.Error(err)
	}
	whole := encodedPNG(t, image.NewGray(image.Rect(0, 0, 64, 64)))
	whole[bytes.Index(whole, []byte("IDAT"))+10] ^= 0xff
	if mat, err := Decode(whole); err == nil {
		mat.Close()
		t.Error("a damaged PNG was read")
	}
}
