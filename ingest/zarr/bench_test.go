package zarr

import (
	"math/rand/v2"
	"os"
	"testing"

	"driftscope/ingest/tiff"
)

// BenchmarkRead measures the time to read a frame of 512x512 16-bit pixels, from an uncompressed store of this package, and from a compressed store of
// zarr-python if DRIFTSCOPE_ZARR names one of 60 frames made by testdata/film.py.
func BenchmarkRead(b *testing.B) {
	b.Run("raw", func(b *testing.B) {
		folder := b.TempDir()
		w, noise := NewWriter(folder), rand.New(rand.NewPCG(1, 2))
		for range 8 {
			picture := tiff.Image{Width: 512, Height: 512, Channels: 1, Depth: tiff.Uint16, Pix: make([]byte, 2*512*512)}
			for i := range picture.Pix {
				picture.Pix[i] = byte(noise.Uint32())
			}
			if err := w.Append(&picture); err != nil {
				b.Fatal(err)
			}
		}
		readFrames(b, folder, 8)
	})
	b.Run("packed", func(b *testing.B) {
		folder := os.Getenv("DRIFTSCOPE_ZARR")
		if folder == "" {
			b.Skip("DRIFTSCOPE_ZARR is not set: python3 testdata/film.py STORE 60 writes one")
		}
		readFrames(b, folder, 60)
	})
}

func readFrames(b *testing.B, folder string, frames int) {
	image := opened(b, os.DirFS(folder))
	var picture tiff.Image
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if _, _, err := image.Read(&picture, Place{Time: n % frames}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(picture.Pix)))
}
