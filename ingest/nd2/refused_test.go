package nd2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"driftscope/ingest/bounded"
	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// TestRefused: the error for an unsupported feature is one line that names it.
func TestRefused(t *testing.T) {
	film := ingesttest.ND2Film(4, 1, 40)
	with := func(more ...ingesttest.ND2Chunk) []byte {
		return ingesttest.ND2("Ver3.0", append(film[:len(film):len(film)], more...)...)
	}
	attributes := func(more ...entry) []byte { return with(ingesttest.ND2Attributes(4, 3, 1, 16, more...)) }
	positions := []entry{{"eType", uint32(2)}, {"uLoopPars", []entry{{"Points", []entry{{"", 1.0}, {"", 2.0}}}}}}
	for want, file := range map[string][]byte{
		"of version 1, a JPEG 2000":                         []byte("\x00\x00\x00\x0cjP  \r\n\x87\n" + strings.Repeat("x", 200)),
		`of version "Ver2.1", Ver3.0 expected`:              ingesttest.ND2("Ver2.1", film...),
		`of version "3", Ver3.0 expected`:                   ingesttest.ND2("3", film...),
		"it begins with 7878787878787878":                   bytes.Repeat([]byte("x"), 300),
		"no picture in its map":                             ingesttest.ND2("Ver3.0", film[0]),
		"no chunk ImageAttributesLV! in its map":            ingesttest.ND2("Ver3.0", film[1:]...),
		"components of 12 bits, 8, 16 or 32":                with(ingesttest.ND2Attributes(4, 3, 1, 12)),
		"the picture has 90000x90000 pixels":                with(ingesttest.ND2Attributes(90000, 90000, 1, 16)),
		"width, height, bits or 1 to 64 components":         with(ingesttest.ND2Attributes(4, 3, 65, 16)),
		"rows of 7 bytes, 8 expected for 4 pixels of 1":     attributes(entry{"uiWidthBytes", uint32(7)}),
		"compressed with loss (1)":                          attributes(entry{"eCompression", int32(1)}),
		"uiTileWidth is 2: pictures in tiles":               attributes(entry{"uiTileWidth", uint32(2)}),
		"there are 2 positions of the stage":                with(ingesttest.ND2Loops(ingesttest.ND2Times(2, 1), positions)),
		"two loops of time or of slices":                    with(ingesttest.ND2Loops(ingesttest.ND2Times(2, 1), ingesttest.ND2Times(2, 1))),
		"a loop of kind 7, time or slices":                  with(ingesttest.ND2Loops([]entry{{"eType", uint32(7)}, {"uLoopPars", []entry{{"uiCount", uint32(2)}}}})),
		"its loops make 2 pictures and there are 4":         with(ingesttest.ND2Loops(ingesttest.ND2Times(2, 1))),
		"loops of more than 16777216 pictures":              with(ingesttest.ND2Loops(ingesttest.ND2Times(1<<20, 1), ingesttest.ND2Slices(1<<20))),
		"more than 16777216 times":                          with(ingesttest.ND2Loops([]entry{{"eType", uint32(8)}, {"uLoopPars", []entry{{"pPeriod", []entry{{"", []entry{{"uiCount", uint32(1 << 24)}}}, {"", []entry{{"uiCount", uint32(1 << 24)}}}}}}}})),
		"ImageMetadataLV!: incomplete metadata":             with(ingesttest.ND2Chunk{Name: "ImageMetadataLV!", Data: ingesttest.ND2Loops(ingesttest.ND2Times(2, 1)).Data[:50]}),
		`ImageMetadataLV!: a record "x" of type 42`:         with(ingesttest.ND2Chunk{Name: "ImageMetadataLV!", Data: []byte{42, 2, 'x', 0, 0, 0}}),
		"ImageMetadataLV!: zlib":                            with(ingesttest.ND2Chunk{Name: "ImageMetadataLV!", Data: append([]byte{76, 0}, make([]byte, 40)...)}),
		"ImageMetadataLV!: incomplete metadata (lite varia": with(ingesttest.ND2Chunk{Name: "ImageMetadataLV!", Data: deep()}),
	} {
		_, err := Open(bytes.NewReader(file), int64(len(file)))
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%v; one line with %q expected", err, want)
		}
		for _, kind := range []string{"of version", "components of", "compressed", "pictures in tiles", "positions", "loops", "a loop of"} {
			if err != nil && strings.Contains(want, kind) && !strings.HasSuffix(err.Error(), "("+tiff.Page+")") {
				t.Errorf("%v; the page at its end expected", err)
			}
		}
	}
}

// deep returns metadata with a hundred nested levels.
func deep() []byte {
	inside := []entry{{"x", 1.0}}
	for range 100 {
		inside = []entry{{"x", inside}}
	}
	return inside[0].Bytes()
}

// TestDamaged: a damaged picture gives an error only for this picture.
func TestDamaged(t *testing.T) {
	packed := entry{"eCompression", int32(0)}
	for want, c := range map[string]struct {
		more []entry
		data ingesttest.ND2Chunk
	}{
		"the picture has 23 bytes, 24 expected": {nil, ingesttest.ND2Picture(0, 0, make([]byte, 23))},
		"the picture has -3 bytes":              {nil, ingesttest.ND2Chunk{Name: "ImageDataSeq|0!", Data: make([]byte, 5)}},
		"zlib":                                  {[]entry{packed}, ingesttest.ND2Picture(0, 0, make([]byte, 23))},
		"23 of 24 bytes were unpacked":          {[]entry{packed}, ingesttest.ND2Picture(0, 0, ingesttest.ND2Deflated(make([]byte, 23)))},
		"more than the 24 bytes of its size":    {[]entry{packed}, ingesttest.ND2Picture(0, 0, ingesttest.ND2Deflated(make([]byte, 1<<20)))},
	} {
		film := opened(t, ingesttest.ND2Attributes(4, 3, 1, 16, c.more...), c.data)
		var p tiff.Image
		if _, err := film.Read(&p, 0, 0, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; %q expected", err, want)
		}
	}
}

// TestTorn: a file without its end is rejected. If only the map leads beyond the end, only the affected pictures give errors.
func TestTorn(t *testing.T) {
	whole := ingesttest.ND2("Ver3.0", ingesttest.ND2Film(2, 1, 40)...)
	for n := 0; n < len(whole); n += 1 + len(whole)/500 {
		if _, err := Open(bytes.NewReader(whole[:n]), int64(n)); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(whole))
		}
	}
	at := bytes.LastIndex(whole, []byte("ImageDataSeq|1!")) + len("ImageDataSeq|1!")
	for value, torn := range map[uint64]bool{1 << 40: true, 8: false, 1 << 63: true} {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint64(b[at:], value)
		film, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var p tiff.Image
		if _, err := film.Read(&p, 1, 0, 0); err == nil || errors.Is(err, bounded.ErrTorn) != torn {
			t.Errorf("%x: %v", value, err)
		}
		if _, err := film.At(1, 0); err == nil {
			t.Errorf("%x: a time", value)
		}
	}
	for name, change := range map[string]func(b []byte){
		"no end":       func(b []byte) { copy(b[bytes.Index(b, []byte("ND2 CHUNK MAP SIGNATURE")):], "XX") },
		"no map there": func(b []byte) { binary.LittleEndian.PutUint64(b[len(b)-8:], 5) },
	} {
		b := bytes.Clone(whole)
		change(b)
		if _, err := Open(bytes.NewReader(b), int64(len(b))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzOpen: for any bytes, Open returns an error of one line, or pictures are within their bounds.
func FuzzOpen(f *testing.F) {
	f.Add(ingesttest.ND2("Ver3.0", append(ingesttest.ND2Film(2, 2, 40), ingesttest.ND2Loops(ingesttest.ND2Times(2, 40)), planes("a", "b"))...))
	f.Add(ingesttest.ND2("Ver3.0", ingesttest.ND2Attributes(4, 3, 1, 16, entry{"eCompression", int32(0)}), ingesttest.ND2Picture(0, 0, ingesttest.ND2Deflated(ingesttest.ND2Pixels(0, 1)))))
	f.Fuzz(func(t *testing.T, b []byte) { readAll(t, b) })
}

// FuzzMetadata: for any metadata, Open returns an error of one line, or pictures are within their bounds.
func FuzzMetadata(f *testing.F) {
	film := ingesttest.ND2Film(4, 2, 40)
	f.Add(film[0].Data, ingesttest.ND2Loops(ingesttest.ND2Times(2, 40), ingesttest.ND2Slices(2)).Data, planes("a", "b").Data)
	f.Add(film[0].Data, entry{"x", []entry{}}.Packed(), []byte{76})
	f.Fuzz(func(t *testing.T, attributes, loops, about []byte) {
		readAll(t, ingesttest.ND2("Ver3.0", ingesttest.ND2Chunk{Name: "ImageAttributesLV!", Data: attributes}, ingesttest.ND2Chunk{Name: "ImageMetadataLV!", Data: loops},
			ingesttest.ND2Chunk{Name: "ImageMetadataSeqLV|0!", Data: about}, film[1], film[2], film[3]))
	})
}

// readAll reads a few pictures of any file.
func readAll(t *testing.T, b []byte) {
	film, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		if strings.ContainsRune(err.Error(), '\n') {
			t.Fatalf("not one line: %q", err)
		}
		return
	}
	if film.Times < 1 || film.Slices < 1 || film.Times > bounded.MaxFrames || film.Slices > bounded.MaxFrames || film.Channels > maxChannels || !(film.Interval >= 0) || !(film.PixelUM >= 0) {
		t.Fatalf("%+v", film)
	}
	var p tiff.Image
	for n := range min(film.Times, 3) {
		_, _ = film.At(n, film.Slices-1)
		found, err := film.Read(&p, n, film.Channels-1, film.Slices-1)
		if found && err == nil && (len(p.Pix) != p.Width*p.Height*p.Depth.Bytes() || len(p.Pix) > tiff.MaxBytes) {
			t.Fatalf("%d bytes of %+v", len(p.Pix), p)
		}
	}
}
