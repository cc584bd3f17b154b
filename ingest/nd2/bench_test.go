package nd2

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// BenchmarkRead measures the reading of a frame of 512x512 16-bit pixels and its time. The pixels have 12 bits of noise.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name       string
		components int
		packed     bool
	}{{"raw", 1, false}, {"raw, two components", 2, false}, {"zlib", 1, true}} {
		b.Run(c.name, func(b *testing.B) {
			const frames = 8
			compression := int32(2)
			if c.packed {
				compression = 0
			}
			chunks := []ingesttest.ND2Chunk{ingesttest.ND2Attributes(512, 512, c.components, 16, entry{"eCompression", compression})}
			noise := rand.New(rand.NewPCG(1, 2))
			for n := range frames {
				var pixels []byte
				for range 512 * 512 * c.components {
					pixels = binary.LittleEndian.AppendUint16(pixels, uint16(noise.Uint32()&0xfff))
				}
				if c.packed {
					pixels = ingesttest.ND2Deflated(pixels)
				}
				chunks = append(chunks, ingesttest.ND2Picture(n, 10*float64(n), pixels))
			}
			film := opened(b, chunks...)
			var picture tiff.Image
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if _, err := film.Read(&picture, n%frames, c.components-1, 0); err != nil {
					b.Fatal(err)
				}
				if _, err := film.At(n%frames, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(picture.Pix)))
		})
	}
}
