package ingesttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"driftscope/ingest/tiff"
)

// Page returns a TIFF page of one value.
func Page(width, height, channels int, depth tiff.Depth, value byte) *tiff.Image {
	pix := bytes.Repeat([]byte{value}, width*height*channels*depth.Bytes())
	return &tiff.Image{Width: width, Height: height, Channels: channels, Depth: depth, Pix: pix}
}

// Write writes a file and returns its path.
func Write(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// EncodeTIFF returns a TIFF of one page.
func EncodeTIFF(t testing.TB, img *tiff.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tiff.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// EncodePNG returns a PNG.
func EncodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Grey returns a picture of one grey value.
func Grey(width, height int, value uint8) image.Image {
	img := image.NewGray(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = value
	}
	return img
}

// HugePNG returns a PNG header of 40,000 x 40,000 pixels.
func HugePNG(t testing.TB) []byte {
	data := EncodePNG(t, image.NewPaletted(image.Rect(0, 0, 40000, 1), color.Palette{color.Black, color.White}))
	copy(data[20:24], data[16:20]) // sets the height; the header's checksum is then wrong, as in a forged file
	return data
}

// EncodeJPEG returns a grey JPEG of 16 by 16 pixels.
func EncodeJPEG(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, Grey(16, 16, 100), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FITS returns a cube of width x height unsigned 16-bit counts. Pixel i of plane k is 1000k + i. more holds further cards.
func FITS(width, height, planes int, more ...string) []byte {
	var b bytes.Buffer
	cards := append([]string{
		"SIMPLE  =                    T", "BITPIX  =                   16", "NAXIS   =                    3",
		fmt.Sprintf("NAXIS1  = %20d", width), fmt.Sprintf("NAXIS2  = %20d", height), fmt.Sprintf("NAXIS3  = %20d", planes),
		"BZERO   =                32768",
	}, more...)
	for _, c := range append(cards, "END") {
		fmt.Fprintf(&b, "%-80s", c)
	}
	b.WriteString(strings.Repeat(" ", (2880-b.Len()%2880)%2880))
	for k := range planes {
		for i := range width * height {
			b.Write(binary.BigEndian.AppendUint16(nil, uint16(1000*k+i)-1<<15))
		}
	}
	b.Write(make([]byte, (2880-b.Len()%2880)%2880))
	return b.Bytes()
}
