package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
)

// longer returns a PNG whose image data continue with more zeros, in chunks of the given size.
func longer(t *testing.T, side, more, chunk int) []byte {
	t.Helper()
	grey := image.NewGray(image.Rect(0, 0, side, side))
	rng := rand.New(rand.NewPCG(1, 2))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for y := range side {
		z.Write([]byte{0})
		for x := range side {
			grey.Pix[y*grey.Stride+x] = byte(rng.Uint32())
		}
		z.Write(grey.Pix[y*grey.Stride:][:side])
	}
	zeros := make([]byte, 1<<20)
	for left := more; left > 0; left -= len(zeros) {
		z.Write(zeros[:min(left, len(zeros))])
	}
	z.Close()
	var whole bytes.Buffer
	if err := png.Encode(&whole, grey); err != nil {
		t.Fatal(err)
	}
	data := whole.Bytes()[:33] // the signature and the header
	add := func(kind string, body []byte) {
		data = binary.BigEndian.AppendUint32(data, uint32(len(body)))
		data = append(append(data, kind...), body...)
		data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data[len(data)-len(body)-4:]))
	}
	for packed.Len() > 0 {
		add("IDAT", packed.Next(chunk))
	}
	add("IEND", nil)
	return data
}

// TestPNGUnpacks: image data that unpack to more than the pixels are rejected before libpng unpacks them, for any number of chunks. Noise of a megapixel and
// more is read.
func TestPNGUnpacks(t *testing.T) {
	for name, c := range map[string]struct {
		side, more, chunk int
		refused           bool
	}{
		"noise":             {1600, 0, 8192, false},
		"noise in one":      {1600, 0, 1 << 30, false},
		"a bomb":            {1600, 64 << 20, 8192, true},
		"in tiny chunks":    {1600, 64 << 20, 64, true},
		"few bytes of data": {64, 64 << 20, 8192, false},
	} {
		data := longer(t, c.side, c.more, c.chunk)
		err := checkPNG(data, c.side*c.side)
		if refused := err != nil && strings.Contains(err.Error(), "the image data unpacks to more than"); refused != c.refused {
			t.Errorf("%s: checkPNG: %v", name, err)
		}
		// libpng ignores surplus data, and Go's decoder reports them. Both read a picture without surplus.
		mat, err := Decode(data)
		if err == nil {
			mat.Close()
		}
		if err == nil && c.refused || err != nil && c.more == 0 {
			t.Errorf("%s: Decode: %v", name, err)
		}
		for n := range 200 {
			checkPNG(data[:n], c.side*c.side) // the walk through the chunks ends in a torn file
		}
	}
}
