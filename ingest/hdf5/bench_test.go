package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"driftscope/ingest/tiff"
)

// written16 returns a file of the newest form with the dataset /film. It has frames pictures of side x side 16-bit pixels, each in one chunk that pack encodes.
func written16(frames, side int, big bool, filters []filter, pack func(pixels []byte) []byte) []byte {
	little := binary.LittleEndian
	var order binary.AppendByteOrder = binary.LittleEndian
	if big {
		order = binary.BigEndian
	}
	number := func(b []byte, n int, v uint64) []byte { return append(b, little.AppendUint64(nil, v)[:n]...) }
	header := func(b []byte, messages ...[]byte) []byte {
		var all []byte
		for _, m := range messages {
			all = append(append(number(append(all, m[0]), 2, uint64(len(m)-1)), 0), m[1:]...)
		}
		return append(append(number(append(b, "OHDR\x02\x02"...), 4, uint64(len(all))), all...), make([]byte, checksum)...)
	}
	const superblock = 48
	b := make([]byte, superblock)
	noise := rand.New(rand.NewPCG(1, 2))
	var list []byte
	for range frames {
		var pixels []byte
		for range side * side {
			pixels = order.AppendUint16(pixels, uint16(noise.Uint32()&0xfff))
		}
		packed := pack(pixels)
		list = number(number(number(list, 8, uint64(len(b))), 8, uint64(len(packed))), 4, 0)
		b = append(b, packed...)
	}
	blocks := uint64(len(b))
	b = append(append(b, make([]byte, prefix)...), list...)
	head := uint64(len(b))
	b = number(number(append(b, "FAHD\x00\x01\x14\x10"...), 8, uint64(frames)), 8, blocks)
	dataset := uint64(len(b))
	space := []byte{spaceMessage, 2, 3, 0, 1}
	layout := []byte{layoutMessage, 4, chunked, 0, 4, 4}
	for _, sides := range [][2]uint64{{uint64(frames), 1}, {uint64(side), uint64(side)}, {uint64(side), uint64(side)}} {
		space, layout = number(space, 8, sides[0]), number(layout, 4, sides[1])
	}
	layout = number(append(number(layout, 4, 2), byArray, 16), 8, head)
	kind := []byte{typeMessage, 0x10, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0}
	if big {
		kind[2] = 1
	}
	pipeline := []byte{filterMessage, 2, byte(len(filters))}
	for _, f := range filters {
		pipeline = number(pipeline, 2, uint64(f.kind))
		if f.kind >= 256 {
			pipeline = number(pipeline, 2, 0)
		}
		pipeline = number(number(number(pipeline, 2, 0), 2, 1), 4, uint64(f.size))
	}
	b = header(b, space, kind, layout, pipeline)
	root := uint64(len(b))
	b = header(b, number(append([]byte{linkMessage, 1, 0, 4}, "film"...), 8, dataset))
	front := append([]byte(Magic), 2, 8, 8, 0)
	for _, v := range []uint64{0, undefined, uint64(len(b)), root, 0} {
		front = number(front, 8, v)
	}
	copy(b[:superblock], front[:superblock])
	return b
}

// shuffled returns all lower bytes, then all upper bytes.
func shuffled(pixels []byte) (b []byte) {
	for first := range 2 {
		for i := first; i < len(pixels); i += 2 {
			b = append(b, pixels[i])
		}
	}
	return b
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// literals returns data as LZF without compression.
func literals(data []byte) (b []byte) {
	for len(data) > 0 {
		n := min(len(data), 32)
		b = append(append(b, byte(n-1)), data[:n]...)
		data = data[n:]
	}
	return b
}

// packings are ways to store chunks.
var packings = []struct {
	name    string
	big     bool
	filters []filter
	pack    func(pixels []byte) []byte
}{
	{"raw", false, nil, bytes.Clone},
	{"raw, big-endian", true, nil, bytes.Clone},
	{"deflate", false, []filter{{kind: deflateFilter}}, deflated},
	{"shuffle, deflate", false, []filter{{shuffleFilter, 2}, {kind: deflateFilter}}, func(pixels []byte) []byte { return deflated(shuffled(pixels)) }},
	{"LZF", false, []filter{{kind: lzfFilter}}, literals},
	{"Fletcher-32", false, []filter{{kind: fletcherFilter}}, func(pixels []byte) []byte {
		return binary.LittleEndian.AppendUint32(pixels[:len(pixels):len(pixels)], fletcher(pixels))
	}},
}

// BenchmarkRead measures the time to read a frame of 512x512 16-bit pixels with 12 bits of noise, one chunk per frame.
func BenchmarkRead(b *testing.B) {
	for _, c := range packings {
		b.Run(c.name, func(b *testing.B) {
			const frames = 8
			file := written16(frames, 512, c.big, c.filters, c.pack)
			image, err := Open(bytes.NewReader(file), int64(len(file)), "", "")
			if err != nil {
				b.Fatal(err)
			}
			var picture tiff.Image
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if missing, err := image.Read(&picture, n%frames, 0, 0); err != nil || missing > 0 {
					b.Fatal(missing, err)
				}
			}
			b.SetBytes(int64(len(picture.Pix)))
		})
	}
}
