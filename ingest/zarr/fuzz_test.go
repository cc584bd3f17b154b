package zarr

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// readAll reads a few pictures of any store.
func readAll(t *testing.T, store fstest.MapFS) {
	image, err := Open(store, 0)
	if err != nil {
		if strings.ContainsRune(err.Error(), '\n') {
			t.Fatalf("not one line: %q", err)
		}
		return
	}
	defer image.Close()
	if err := tiff.CheckSize(image.Width, image.Height, image.array.samples.Depth().Bytes()); err != nil || image.Tiles() > bounded.MaxTiles || image.array.bytes() > maxChunk || !(image.Interval >= 0) {
		t.Fatalf("%+v (%v)", image, err)
	}
	if image.Width*image.Height > 1<<16 || image.Tiles() > 64 || image.array.bytes() > 1<<20 {
		return // slow, not wrong
	}
	var picture tiff.Image
	if _, err := image.Last(Place{}, true); err != nil {
		return
	}
	for n := range min(3, image.Times()) {
		missing, _, err := image.Read(&picture, Place{Time: n})
		if err == nil && (missing > image.Tiles() || len(picture.Pix) != image.Width*image.Height*picture.Depth.Bytes()) {
			t.Fatalf("%d missing, %d bytes of %+v", missing, len(picture.Pix), image)
		}
	}
}

// FuzzMetadata: for any metadata, Open returns an error of one line, or pictures are within their bounds.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(ngff), fmt.Appendf(nil, filmV2, `{"id":"blosc"}`), []byte(nil))
	f.Add([]byte(`{"multiscales":[{"axes":["t","z","y","x"],"datasets":[{"path":"0"}]}]}`), fmt.Appendf(nil, filmV2, "null"), flat(1))
	f.Add([]byte(nil), fmt.Appendf(nil, shardedFilm, `,"zstd"`, `,"crc32c"`, "end"), shard(false, 1, 0, 2))
	f.Add([]byte(`{"zarr_format":3,"node_type":"group","attributes":{"ome":{"multiscales":[{"datasets":[{"path":"0"}]}]}}}`), fmt.Appendf(nil, shardedFilm, `,"blosc"`, ``, "start"), shard(true, 1, 0, 2))
	f.Fuzz(func(t *testing.T, group, array, chunk []byte) {
		for _, names := range [][2]string{{v2Attributes, "0/" + v2Name}, {v3Name, "0/" + v3Name}, {"x", v3Name}, {v2Attributes, v2Name}} {
			store := fstest.MapFS{}
			put(store, names[0], group)
			put(store, names[1], array)
			for _, key := range []string{"0/0/0/0", "0/0/0/0/0", "c/0/0/0", "0/c/0/0/0", "0.0.0", "0/0.0.0"} {
				put(store, key, chunk)
			}
			readAll(t, store)
		}
	})
}

// FuzzBlosc: for any bytes, a chunk unpacks to exactly the bytes of its shape, or gives an error.
func FuzzBlosc(f *testing.F) {
	for name, file := range unzipped(f, "v2.zip") {
		if strings.HasPrefix(name, "blosc") && !strings.Contains(name, "/.") && len(file.Data) < 4096 {
			f.Add(file.Data, uint32(file.Data[4])|uint32(file.Data[5])<<8|uint32(file.Data[6])<<16)
		}
	}
	f.Add(bloscStoring(flat(3)), uint32(24))
	f.Fuzz(func(t *testing.T, packed []byte, size uint32) {
		var u unpacker
		defer u.close()
		plain, err := u.unpack(nil, packed, packing{compressor: withBlosc}, int(size%(1<<20)))
		if err == nil && len(plain) != int(size%(1<<20)) {
			t.Fatalf("%d bytes, %d expected", len(plain), size)
		}
	})
}

// FuzzShard: for any bytes of a shard, its frames are read, missing, or give an error.
func FuzzShard(f *testing.F) {
	f.Add(shard(false, 1, 0, 3), uint8(0))
	f.Add(shard(true, 1, 0, 3), uint8(1))
	f.Add(shard(false, 1, 2, 3)[:20], uint8(2))
	f.Add(shard(false, 1, 2, 3), uint8(4))
	f.Fuzz(func(t *testing.T, bytes []byte, form uint8) {
		codecs := []string{"", `,"zstd"`, `,"blosc"`, `,"gzip"`, `,"crc32c"`}[form/2%5]
		store := fstest.MapFS{}
		put(store, v3Name, fmt.Appendf(nil, shardedFilm, codecs, []string{`,"crc32c"`, ""}[form/16%2], []string{"end", "start"}[form%2]))
		put(store, "c/0/0/0", bytes)
		readAll(t, store)
	})
}
