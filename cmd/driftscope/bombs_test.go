package main

import (
	"bytes"
	"compress/gzip"
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"driftscope/ingest"
	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/suite"
)

// bombBytes is the unpacked size of a file of a few kB or MB.
const bombBytes = 1 << 30

// bombCodecs are the codecs that compress zeros.
var bombCodecs = map[string]func(io.Writer) io.WriteCloser{
	"zlib": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"lzw":  func(w io.Writer) io.WriteCloser { return lzw.NewWriter(w, lzw.MSB, 8) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			panic(err)
		}
		return z
	},
}

// bombOf compresses n zeros.
func bombOf(t *testing.T, codec string, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, zeros := bombCodecs[codec](&b), make([]byte, 1<<20)
	var err error
	for left := n; left > 0 && err == nil; left -= len(zeros) {
		_, err = w.Write(zeros[:min(left, len(zeros))])
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bombTIFF is a picture of one strip.
func bombTIFF(side, compression int, strip []byte) []byte {
	b := []byte("II*\x00\x08\x00\x00\x00\x08\x00")
	for _, entry := range [][2]int{{256, side}, {257, side}, {258, 8}, {259, compression}, {262, 1}, {273, 8 + 2 + 8*12 + 4}, {278, side}, {279, len(strip)}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(entry[0]))
		b = binary.LittleEndian.AppendUint16(b, 4)
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, uint32(entry[1]))
	}
	return append(append(b, 0, 0, 0, 0), strip...)
}

// bombZarr is a store of one chunk, version 2.
func bombZarr(side int, compressor string, chunk []byte) map[string][]byte {
	array := fmt.Sprintf(`{"zarr_format":2,"shape":[1,%d,%d],"chunks":[1,%d,%d],"dtype":"|u1","compressor":%s,"fill_value":0,"order":"C","filters":null,"dimension_separator":"/"}`, side, side, side, side, compressor)
	return map[string][]byte{"a.zarr/.zarray": []byte(array), "a.zarr/0/0/0": chunk}
}

// bloscBomb is a Blosc chunk that claims size bytes, in blocks of the same size, in one part of Zstandard.
func bloscBomb(size uint32, part []byte) []byte {
	b := []byte{2, 1, 4 << 5, 1}
	for _, v := range []uint32{size, size, uint32(16 + 4 + 4 + len(part)), 20, uint32(len(part))} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, part...)
}

// heldElsewhere names the tests, or reasons, for the kinds of sources without a bomb here.
var heldElsewhere = map[string]string{
	"camera": "codecs of a camera", "genicam": "not packed", "gst": "GStreamer's codecs", "url": "TestHTTPRefused (ingest/camera)", "sim": "no file", "fits": "not packed", "video": "FFmpeg's codecs",
	"hdf5": "TestRefused, FuzzChange (ingest/hdf5)", "nats": "TestUnpackHostile (ingest/wire), TestBudgetBeside", "ndtiff": "as tiff, by its own index: FuzzIndex (ingest/tiff)", "recording": "as tiff and zarr",
}

// TestBombs: a small file that unpacks to a gigabyte, or claims to, ends in an error or in the picture that its header describes, within 1 GiB and 5 s of
// processor time.
func TestBombs(t *testing.T) {
	suite.Long(t)
	const small, large = 64, 8190
	bombs := map[string]map[string][]byte{ // by kind and codec
		"directory PNG":           {"film/a.png": longPNG(small, 32768), "film/b.png": longPNG(small, 32768)},
		"directory PNG, longer":   {"film/a.png": longPNG(small, 65535), "film/b.png": longPNG(small, 65535)},
		"directory PNG, large":    {"film/a.png": blackPNG(large, large, 8, 0, 1), "film/b.png": blackPNG(large, large, 8, 0, 1)},
		"tiff deflate":            {"a.tif": bombTIFF(small, 8, bombOf(t, "zlib", bombBytes))},
		"tiff deflate, large":     {"a.tif": bombTIFF(large, 8, bombOf(t, "zlib", bombBytes))},
		"tiff deflate, too large": {"a.tif": bombTIFF(40000, 8, bombOf(t, "zlib", 1<<20))},
		"tiff LZW":                {"a.tif": bombTIFF(small, 5, bombOf(t, "lzw", bombBytes/4))},
		"tiff LZW, large":         {"a.tif": bombTIFF(large, 5, bombOf(t, "lzw", bombBytes/4))},
		"tiff PackBits":           {"a.tif": bombTIFF(small, 32773, bytes.Repeat([]byte{129, 0}, bombBytes/128/8))},
		"tiff Zstandard":          {"a.tif": bombTIFF(small, 50000, bombOf(t, "zstd", bombBytes))},
		"zarr zlib":               bombZarr(small, `{"id":"zlib"}`, bombOf(t, "zlib", bombBytes)),
		"zarr gzip":               bombZarr(small, `{"id":"gzip"}`, bombOf(t, "gzip", bombBytes)),
		"zarr zstd":               bombZarr(small, `{"id":"zstd"}`, bombOf(t, "zstd", bombBytes)),
		"zarr zstd, large":        bombZarr(large, `{"id":"zstd"}`, bombOf(t, "zstd", bombBytes)),
		"zarr blosc, by header":   bombZarr(small, `{"id":"blosc","cname":"zstd"}`, bloscBomb(1<<31-17, bombOf(t, "zstd", 1<<20))),
		"zarr blosc, by a part":   bombZarr(small, `{"id":"blosc","cname":"zstd"}`, bloscBomb(small*small, bombOf(t, "zstd", bombBytes))),
		"zarr blosc, large":       bombZarr(large, `{"id":"blosc","cname":"zstd"}`, bloscBomb(large*large, bombOf(t, "zstd", bombBytes))),
		"czi zstd":                {"a.czi": bombCZI(bombOf(t, "zstd", bombBytes))},
		"nd2 zlib":                {"a.nd2": ingesttest.ND2("Ver3.0", ingesttest.ND2Attributes(4, 3, 1, 16, ingesttest.ND2Record{"eCompression", int32(0)}), ingesttest.ND2Picture(0, 0, bombOf(t, "zlib", bombBytes)))},
	}
	tried := map[string]bool{}
	for name, files := range bombs {
		kind, _, _ := strings.Cut(name, " ")
		tried[kind] = true
		folder, source := t.TempDir(), ""
		for path, data := range files {
			source, _, _ = strings.Cut(path, "/")
			whole := filepath.Join(folder, path)
			if err := os.MkdirAll(filepath.Dir(whole), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(whole, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o, peak := driveMeasured(t, folder, "probe", source)
		t.Logf("%s: status %d, %.200s", name, o.status, strings.TrimSpace(o.errors))
		if o.status < 0 || o.status > 2 || strings.Contains(o.errors, "goroutine ") {
			t.Errorf("%s: status %d\n%s", name, o.status, o.errors)
		}
		if most := frame.MostTime * time.Duration(len(files)); peak > frame.MostMemory || o.worked > most {
			t.Errorf("%s: %d MiB were resident, %v of a processor, at most %d MiB and %v expected\n%s", name, peak>>20, o.worked, frame.MostMemory>>20, most, o.errors)
		}
	}
	for _, kind := range ingest.Kinds() {
		if held := heldElsewhere[kind] != ""; tried[kind] == held {
			t.Errorf("source %s: give it a bomb here, or say in heldElsewhere which test holds it", kind)
		}
	}
}

// bombCZI is a film whose first picture is packed.
func bombCZI(data []byte) []byte {
	f := ingesttest.CZIFilm(2, 1, 1)
	f.Pictures[0].Compression, f.Pictures[0].Data = 5, data
	return f.Bytes()
}

// longPNG is a PNG whose header gives one side, but whose pixels are for another.
func longPNG(side, holds uint32) []byte {
	data := blackPNG(holds, holds, 8, 0, 1)
	binary.BigEndian.PutUint32(data[16:], side)
	binary.BigEndian.PutUint32(data[20:], side)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}
