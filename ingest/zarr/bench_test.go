package zarr

import (
	"os"
	"testing"

	"driftscope/ingest/tiff"
)

// BenchmarkRead is what a frame of 512x512 pixels of 16 bits costs that zarr-python packed: DRIFTSCOPE_ZARR is a store of 60, of testdata/film.py.
func BenchmarkRead(b *testing.B) {
	folder := os.Getenv("DRIFTSCOPE_ZARR")
	if folder == "" {
		b.Skip("DRIFTSCOPE_ZARR is not set: python3 testdata/film.py STORE 60 writes one")
	}
	image := opened(b, os.DirFS(folder))
	var picture tiff.Image
	for n := 0; b.Loop(); n++ {
		if _, _, err := image.Read(&picture, Place{Time: n % 60}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(picture.Pix)))
}
