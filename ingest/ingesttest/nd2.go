package ingesttest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"math"
	"unicode/utf16"
)

// ND2Record is a name and a value of metadata: int32, uint32, int64, uint64, float64, bool, string, []byte, or []Record, a level.
type ND2Record [2]any

// nd2Units returns UTF-16 text with a final 0.
func nd2Units(text string) (b []byte) {
	for _, u := range append(utf16.Encode([]rune(text)), 0) {
		b = little.AppendUint16(b, u)
	}
	return b
}

// Bytes writes the record.
func (r ND2Record) Bytes() []byte {
	name := nd2Units(r[0].(string))
	head := func(kind byte) []byte { return append([]byte{kind, byte(len(name) / 2)}, name...) }
	switch v := r[1].(type) {
	case bool:
		if v {
			return append(head(1), 1)
		}
		return append(head(1), 0)
	case int32:
		return little.AppendUint32(head(2), uint32(v))
	case uint32:
		return little.AppendUint32(head(3), v)
	case int64:
		return little.AppendUint64(head(4), uint64(v))
	case uint64:
		return little.AppendUint64(head(5), v)
	case float64:
		return little.AppendUint64(head(6), math.Float64bits(v))
	case string:
		return append(head(8), nd2Units(v)...)
	case []byte:
		return append(little.AppendUint64(head(9), uint64(len(v))), v...)
	case []ND2Record:
		var inside []byte
		for _, child := range v {
			inside = append(inside, child.Bytes()...)
		}
		b := little.AppendUint32(head(11), uint32(len(v)))
		b = little.AppendUint64(b, uint64(len(b)+8+len(inside)))
		return append(append(b, inside...), make([]byte, 8*len(v))...)
	}
	panic(fmt.Sprintf("a value %T", r[1]))
}

// Packed returns the record compressed with zlib.
func (r ND2Record) Packed() []byte {
	var b bytes.Buffer
	b.Write([]byte{76, 0})
	b.Write(make([]byte, 10))
	b.Write(ND2Deflated(r.Bytes()))
	return b.Bytes()
}

// ND2Deflated returns data compressed with zlib.
func ND2Deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// ND2Chunk is a name, which ends in !, and data.
type ND2Chunk struct {
	Name string
	Data []byte
}

// ND2Picture returns chunk n of a film: its time in milliseconds, and its stored pixels.
func ND2Picture(n int, ms float64, pixels []byte) ND2Chunk {
	return ND2Chunk{fmt.Sprintf("ImageDataSeq|%d!", n), append(little.AppendUint64(nil, math.Float64bits(ms)), pixels...)}
}

// nd2Align is the alignment of chunks.
const nd2Align = 4096

// append writes a chunk. With room, the name is padded to the next multiple of align.
func (c ND2Chunk) append(b []byte, room bool) []byte {
	name := append([]byte(c.Name), 0)
	if room {
		name = append(name, make([]byte, nd2Align-16-len(name)%nd2Align)...)
	}
	b = append(b, 0xda, 0xce, 0xbe, 0x0a)
	b = little.AppendUint32(b, uint32(len(name)))
	b = little.AppendUint64(b, uint64(len(c.Data)))
	b = append(append(b, name...), c.Data...)
	return append(b, make([]byte, (nd2Align-len(b)%nd2Align)%nd2Align)...)
}

// ND2 returns a file of chunks with their map.
func ND2(version string, chunks ...ND2Chunk) []byte {
	var b []byte
	b = append(b, 0xda, 0xce, 0xbe, 0x0a)
	b = little.AppendUint32(b, 32)
	b = little.AppendUint64(b, 64)
	b = append(b, "ND2 FILE SIGNATURE CHUNK NAME01!"...)
	b = append(b, version...)
	b = append(b, make([]byte, nd2Align-len(b))...)
	var list []byte
	for _, c := range chunks {
		list = append(list, c.Name...)
		list = little.AppendUint64(list, uint64(len(b)))
		list = little.AppendUint64(list, uint64(len(c.Data)))
		b = c.append(b, true)
	}
	at := uint64(len(b))
	const end = "ND2 CHUNK MAP SIGNATURE 0000001!"
	list = little.AppendUint64(append(list, end...), at)
	b = append(b, 0xda, 0xce, 0xbe, 0x0a)
	b = little.AppendUint32(b, 32)
	b = little.AppendUint64(b, uint64(len(list)))
	b = append(b, "ND2 FILEMAP SIGNATURE NAME 0001!"...)
	return append(b, list...)
}

// ND2Level returns a metadata chunk with one level.
func ND2Level(chunk, name string, inside ...ND2Record) ND2Chunk {
	return ND2Chunk{chunk, ND2Record{name, inside}.Bytes()}
}

// ND2Attributes returns the attributes of uncompressed pictures of the given size, components and bits.
func ND2Attributes(width, height, components, bits int, more ...ND2Record) ND2Chunk {
	return ND2Level("ImageAttributesLV!", "SLxImageAttributes", append([]ND2Record{
		{"uiWidth", uint32(width)}, {"uiWidthBytes", uint32(width * components * bits / 8)}, {"uiHeight", uint32(height)},
		{"uiComp", uint32(components)}, {"uiBpcInMemory", uint32(bits)}, {"uiBpcSignificant", uint32(bits)}, {"eCompression", int32(2)},
	}, more...)...)
}

// ND2Loops returns an experiment of nested loops, the outermost first.
func ND2Loops(loops ...[]ND2Record) ND2Chunk {
	var inside []ND2Record
	for i := len(loops) - 1; i >= 0; i-- {
		this := loops[i]
		if inside != nil {
			this = append(this[:len(this):len(this)], ND2Record{"ppNextLevelEx", []ND2Record{{"", inside}}})
		}
		inside = this
	}
	return ND2Level("ImageMetadataLV!", "SLxExperiment", inside...)
}

// ND2Times returns a loop of count times, ms apart.
func ND2Times(count int, ms float64) []ND2Record {
	return []ND2Record{{"eType", uint32(1)}, {"uLoopPars", []ND2Record{{"uiCount", uint32(count)}, {"dPeriod", ms}}}}
}

// ND2Slices returns a loop of count slices.
func ND2Slices(count int) []ND2Record {
	return []ND2Record{{"eType", uint32(4)}, {"uLoopPars", []ND2Record{{"uiCount", uint32(count)}, {"dZStep", 0.5}}}}
}

// ND2Pixels returns 4 by 3 pixels of 16 bits. Pixel i of component c of picture n is 1000 n + 100 c + i.
func ND2Pixels(n, components int) (b []byte) {
	for i := range 12 {
		for c := range components {
			b = little.AppendUint16(b, uint16(1000*n+100*c+i))
		}
	}
	return b
}

// ND2Film returns count pictures of ND2Pixels, ms apart.
func ND2Film(count, components int, ms float64) (chunks []ND2Chunk) {
	chunks = append(chunks, ND2Attributes(4, 3, components, 16))
	for n := range count {
		chunks = append(chunks, ND2Picture(n, 100+ms*float64(n), ND2Pixels(n, components)))
	}
	return chunks
}
