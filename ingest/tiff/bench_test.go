package tiff

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// BenchmarkNext measures the time to read a page of 512x512 samples, in the formats that cameras' programs write.
func BenchmarkNext(b *testing.B) {
	for _, c := range []struct {
		name  string
		order binary.ByteOrder
		recipe
	}{
		{"16 bits", binary.LittleEndian, recipe{samples: 1, bits: 16, format: formatUint, photometric: blackIsZero}},
		{"16 bits, big-endian", binary.BigEndian, recipe{samples: 1, bits: 16, format: formatUint, photometric: blackIsZero}},
		{"12 bits", binary.LittleEndian, recipe{samples: 1, bits: 12, format: formatUint, photometric: blackIsZero}},
		{"signed", binary.LittleEndian, recipe{samples: 1, bits: 16, format: formatInt, photometric: blackIsZero}},
		{"floats, big-endian", binary.BigEndian, recipe{samples: 1, bits: 32, format: formatFloat, photometric: blackIsZero}},
		{"doubles", binary.LittleEndian, recipe{samples: 1, bits: 64, format: formatFloat, photometric: blackIsZero}},
		{"colours with alpha", binary.LittleEndian, recipe{samples: 4, bits: 8, format: formatUint, photometric: rgb}},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := c.recipe
			r.width, r.height, r.compression = 512, 512, uncompressed
			r.value = func(x, y, channel int) float64 { return float64((7*x + 31*y + 57*channel) % 250) }
			file := build(b, c.order, false, r)
			var picture Image
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(bytes.NewReader(file), int64(len(file)))
				if err == nil {
					err = f.Next(&picture)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(picture.Pix)))
		})
	}
}
