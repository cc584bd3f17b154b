package czi

import (
	"math/rand/v2"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// BenchmarkRead measures the reading of a frame of 512x512 16-bit pixels and its time. The pixels have 12 bits of noise.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		pack func(pixels []byte) (compression int, data []byte)
	}{
		{"raw", func(pixels []byte) (int, []byte) { return plain, pixels }},
		{"zstd", func(pixels []byte) (int, []byte) { return zstd0, packed(b, pixels) }},
		{"zstd in halves", func(pixels []byte) (int, []byte) {
			return zstd1, append([]byte{3, 1, 1}, packed(b, halves(pixels))...)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			const frames = 8
			var f ingesttest.CZI
			noise := rand.New(rand.NewPCG(1, 2))
			for n := range frames {
				values := make([]uint16, 512*512)
				for i := range values {
					values[i] = uint16(noise.Uint32() & 0xfff)
				}
				p := ingesttest.CZIPicture{Axes: ingesttest.CZIAt(n, 0, 0, 512, 512), Pixel: gray16, Tags: "<AcquisitionTime>2026-11-26T05:00:00Z</AcquisitionTime>"}
				p.Compression, p.Data = c.pack(ingesttest.Words(values...))
				f.Pictures = append(f.Pictures, p)
			}
			film := opened(b, &f)
			var picture tiff.Image
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if _, err := film.Read(&picture, n%frames, 0, 0); err != nil {
					b.Fatal(err)
				}
				if _, err := film.At(n%frames, 0, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(picture.Pix)))
		})
	}
}
