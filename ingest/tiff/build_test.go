package tiff

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"golang.org/x/image/tiff/lzw"
)

// recipe describes one page for the tests' own writer, which can write formats that Encode cannot.
type recipe struct {
	width, height, samples int
	bits                   int
	format                 uint64
	photometric            uint64
	compression            uint64
	predictor              uint64
	fill                   uint64
	rows                   int // rows per strip; 0 puts all rows into one strip
	tile                   int // side of a tile; 0 for strips
	separate               bool
	colours                []uint64
	description            string
	value                  func(x, y, c int) float64
}

// ramp is the value of a picture in which every pixel and channel differs from its neighbours.
func ramp(x, y, c int) float64 { return float64(7*x + 31*y + 57*c) }

// field is a directory entry before its values have an offset.
type field struct {
	tag    uint16
	kind   uint16
	values []uint64
}

// build writes the pages as one file.
func build(t testing.TB, order binary.ByteOrder, big bool, pages ...recipe) []byte {
	t.Helper()
	file := []byte("II")
	if order == binary.BigEndian {
		file = []byte("MM")
	}
	file = append(file, make([]byte, 2)...)
	order.PutUint16(file[2:], 42)
	link := 4
	if big {
		order.PutUint16(file[2:], 43)
		file = append(file, make([]byte, 4)...)
		order.PutUint16(file[4:], 8)
		link = 8
	}
	file = append(file, make([]byte, link)...)
	for _, r := range pages {
		var offsets, counts []uint64
		for _, chunk := range r.chunks(t, order) {
			offsets, counts = append(offsets, uint64(len(file))), append(counts, uint64(len(chunk)))
			file = append(file, chunk...)
		}
		file, link = appendDirectory(file, order, big, link, r.fields(offsets, counts))
	}
	return file
}

// appendDirectory writes a directory and sets link to it. It returns the offset of the link to the next directory.
func appendDirectory(file []byte, order binary.ByteOrder, big bool, link int, fields []field) (out []byte, next int) {
	inline, word := 4, func(b []byte, v uint64) []byte { return appendUint(b, order, 4, v) }
	if big {
		inline, word = 8, func(b []byte, v uint64) []byte { return appendUint(b, order, 8, v) }
	}
	var entries []byte
	for _, f := range fields {
		var values []byte
		for _, v := range f.values {
			values = appendUint(values, order, kindSize(f.kind), v)
		}
		entries = appendUint(entries, order, 2, uint64(f.tag))
		entries = appendUint(entries, order, 2, uint64(f.kind))
		entries = word(entries, uint64(len(f.values)))
		if len(values) > inline {
			entries = word(entries, uint64(len(file)))
			file = append(file, values...)
		} else {
			entries = append(entries, append(values, make([]byte, inline-len(values))...)...)
		}
	}
	copy(file[link:], word(nil, uint64(len(file))))
	count := 2
	if big {
		count = 8
	}
	file = appendUint(file, order, count, uint64(len(fields)))
	file = append(file, entries...)
	return word(file, 0), len(file)
}

func appendUint(b []byte, order binary.ByteOrder, size int, v uint64) []byte {
	var full [8]byte
	switch size {
	case 1:
		full[0] = byte(v)
	case 2:
		order.PutUint16(full[:], uint16(v))
	case 4:
		order.PutUint32(full[:], uint32(v))
	case 8:
		order.PutUint64(full[:], v)
	}
	return append(b, full[:size]...)
}

func (r recipe) fields(offsets, counts []uint64) []field {
	repeat := func(v uint64) []uint64 { return slices.Repeat([]uint64{v}, r.samples) }
	planar := uint64(1)
	if r.separate {
		planar = planarSeparate
	}
	fields := []field{
		{tagWidth, 4, []uint64{uint64(r.width)}},
		{tagHeight, 4, []uint64{uint64(r.height)}},
		{tagBitsPerSample, 3, repeat(uint64(r.bits))},
		{tagCompression, 3, []uint64{r.compression}},
		{tagPhotometric, 3, []uint64{r.photometric}},
		{tagSamplesPerPixel, 3, []uint64{uint64(r.samples)}},
		{tagPlanar, 3, []uint64{planar}},
		{tagSampleFormat, 3, repeat(r.format)},
	}
	if r.predictor > 1 {
		fields = append(fields, field{tagPredictor, 3, []uint64{r.predictor}})
	}
	if r.fill > 0 {
		fields = append(fields, field{tagFillOrder, 3, []uint64{r.fill}})
	}
	if r.colours != nil {
		fields = append(fields, field{tagColorMap, 3, r.colours})
	}
	if r.description != "" {
		var text []uint64
		for _, b := range []byte(r.description) {
			text = append(text, uint64(b))
		}
		fields = append(fields, field{tagDescription, 2, text})
	}
	if r.tile > 0 {
		side := []uint64{uint64(r.tile)}
		return append(fields, field{tagTileWidth, 4, side}, field{tagTileHeight, 4, side},
			field{tagTileOffsets, 4, offsets}, field{tagTileByteCounts, 4, counts})
	}
	rows := r.rows
	if rows == 0 {
		rows = r.height
	}
	return append(fields, field{tagRowsPerStrip, 4, []uint64{uint64(rows)}},
		field{tagStripOffsets, 4, offsets}, field{tagStripByteCounts, 4, counts})
}

// chunks cuts the picture into strips or tiles and compresses them.
func (r recipe) chunks(t testing.TB, order binary.ByteOrder) (chunks [][]byte) {
	w, h := r.width, r.rows
	if h == 0 {
		h = r.height
	}
	if r.tile > 0 {
		w, h = r.tile, r.tile
	}
	planes := [][]int{nil}
	for c := range r.samples {
		if r.separate && c > 0 {
			planes = append(planes, nil)
		}
		planes[len(planes)-1] = append(planes[len(planes)-1], c)
	}
	for _, plane := range planes {
		for y := 0; y < r.height; y += h {
			for x := 0; x < r.width; x += w {
				rows := h
				if r.tile == 0 {
					rows = min(h, r.height-y)
				}
				var chunk []byte
				for dy := range rows {
					chunk = append(chunk, r.row(order, x, y+dy, w, plane)...)
				}
				chunks = append(chunks, r.compress(t, chunk))
			}
		}
	}
	return chunks
}

// row returns the samples of one row of a chunk, after the predictor.
func (r recipe) row(order binary.ByteOrder, x, y, w int, plane []int) (row []byte) {
	var last [4]uint64
	held, have := uint64(0), 0
	for dx := range w {
		for k, c := range plane {
			v := r.coded(r.value(x+dx, y, c))
			stored := v
			if r.predictor == predictorHorizontal {
				stored, last[k] = v-last[k], v
			}
			if r.bits%8 == 0 {
				row = appendUint(row, order, r.bits/8, stored)
				continue
			}
			held, have = held<<r.bits|v&(1<<r.bits-1), have+r.bits
			for have >= 8 {
				row, have = append(row, byte(held>>(have-8))), have-8
			}
		}
	}
	if have > 0 {
		row = append(row, byte(held<<(8-have)))
	}
	if r.predictor == predictorFloat {
		return splitFloats(row, order, len(plane), r.bits/8)
	}
	return row
}

// coded is a value's bit pattern.
func (r recipe) coded(v float64) uint64 {
	switch {
	case r.format == formatFloat && r.bits == 32:
		return uint64(math.Float32bits(float32(v)))
	case r.format == formatFloat:
		return math.Float64bits(v)
	}
	return uint64(int64(v))
}

// splitFloats applies the floating-point predictor.
func splitFloats(row []byte, order binary.ByteOrder, samples, size int) []byte {
	n := len(row) / size
	out := make([]byte, len(row))
	for i := range n {
		for b := range size {
			from := b
			if order == binary.LittleEndian {
				from = size - 1 - b
			}
			out[b*n+i] = row[i*size+from]
		}
	}
	for i := len(out) - 1; i >= samples; i-- {
		out[i] -= out[i-samples]
	}
	return out
}

func (r recipe) compress(t testing.TB, chunk []byte) []byte {
	var b bytes.Buffer
	switch r.compression {
	case deflated, deflatedOld:
		w := zlib.NewWriter(&b)
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case lzwCoded:
		return packLZW(chunk)
	case packBits: // literals and runs in turn
		for len(chunk) > 0 {
			n := min(len(chunk), 5)
			b.WriteByte(byte(n - 1))
			b.Write(chunk[:n])
			if chunk = chunk[n:]; len(chunk) > 0 {
				run := 1
				for run < min(len(chunk), 128) && chunk[run] == chunk[0] {
					run++
				}
				if run > 1 {
					b.Write([]byte{byte(1 - run), chunk[0], 0x80})
					chunk = chunk[run:]
				}
			}
		}
		if b.Bytes()[b.Len()-1] == 0x80 { // a no-op at the end is legal but tests nothing
			b.Truncate(b.Len() - 1)
		}
	default:
		return chunk
	}
	return b.Bytes()
}

// packLZW writes 9-bit literals, with a clear code before the width would grow. This is valid LZW, although it does not compress.
func packLZW(chunk []byte) (out []byte) {
	const clearCode, endCode = 256, 257
	held, have := uint32(0), 0
	put := func(code uint32) {
		held, have = held<<9|code, have+9
		for have >= 8 {
			out, have = append(out, byte(held>>(have-8))), have-8
		}
	}
	for i, b := range chunk {
		if i%200 == 0 {
			put(clearCode)
		}
		put(uint32(b))
	}
	put(endCode)
	if have > 0 {
		out = append(out, byte(held<<(8-have)))
	}
	return out
}

// TestPackLZW checks the tests' writer with another reader.
func TestPackLZW(t *testing.T) {
	want := make([]byte, 1000)
	for i := range want {
		want[i] = byte(i * i)
	}
	r := lzw.NewReader(bytes.NewReader(packLZW(want)), lzw.MSB, 8)
	defer r.Close()
	got := make([]byte, len(want)+1)
	n := 0
	for {
		k, err := r.Read(got[n:])
		n += k
		if err != nil {
			break
		}
	}
	if !bytes.Equal(got[:n], want) {
		t.Fatalf("%d bytes came back, %d expected", n, len(want))
	}
}
