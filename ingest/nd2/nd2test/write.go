// Package nd2test writes ND2 files for tests, from the same format descriptions as the reader; no writing program was at
// hand.
package nd2test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

var little = binary.LittleEndian

// Record is a name and a value of metadata: int32, uint32, int64, uint64, float64, bool, string, []byte, or []Record, a level.
type Record [2]any

// units returns UTF-16 text with a final 0.
func units(text string) (b []byte) {
	for _, u := range append(utf16.Encode([]rune(text)), 0) {
		b = little.AppendUint16(b, u)
	}
	return b
}

// Bytes writes the record.
func (r Record) Bytes() []byte {
	name := units(r[0].(string))
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
		return append(head(8), units(v)...)
	case []byte:
		return append(little.AppendUint64(head(9), uint64(len(v))), v...)
	case []Record:
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
func (r Record) Packed() []byte {
	var b bytes.Buffer
	b.Write([]byte{76, 0})
	b.Write(make([]byte, 10))
	b.Write(Deflated(r.Bytes()))
	return b.Bytes()
}

// Deflated returns data compressed with zlib.
func Deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// Chunk is a name, which ends in !, and data.
type Chunk struct {
	Name string
	Data []byte
}

// Picture returns chunk n of a film: its time in milliseconds, and its stored pixels.
func Picture(n int, ms float64, pixels []byte) Chunk {
	return Chunk{fmt.Sprintf("ImageDataSeq|%d!", n), append(little.AppendUint64(nil, math.Float64bits(ms)), pixels...)}
}

// align is the alignment of chunks.
const align = 4096

// append writes a chunk. With room, the name is padded to the next multiple of align.
func (c Chunk) append(b []byte, room bool) []byte {
	name := append([]byte(c.Name), 0)
	if room {
		name = append(name, make([]byte, align-16-len(name)%align)...)
	}
	b = append(b, 0xda, 0xce, 0xbe, 0x0a)
	b = little.AppendUint32(b, uint32(len(name)))
	b = little.AppendUint64(b, uint64(len(c.Data)))
	b = append(append(b, name...), c.Data...)
	return append(b, make([]byte, (align-len(b)%align)%align)...)
}

// File returns a file of chunks with their map.
func File(version string, chunks ...Chunk) []byte {
	var b []byte
	b = append(b, 0xda, 0xce, 0xbe, 0x0a)
	b = little.AppendUint32(b, 32)
	b = little.AppendUint64(b, 64)
	b = append(b, "ND2 FILE SIGNATURE CHUNK NAME01!"...)
	b = append(b, version...)
	b = append(b, make([]byte, align-len(b))...)
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

// Level returns a metadata chunk with one level.
func Level(chunk, name string, inside ...Record) Chunk {
	return Chunk{chunk, Record{name, inside}.Bytes()}
}

// Attributes returns the attributes of uncompressed pictures of the given size, components and bits.
func Attributes(width, height, components, bits int, more ...Record) Chunk {
	return Level("ImageAttributesLV!", "SLxImageAttributes", append([]Record{
		{"uiWidth", uint32(width)}, {"uiWidthBytes", uint32(width * components * bits / 8)}, {"uiHeight", uint32(height)},
		{"uiComp", uint32(components)}, {"uiBpcInMemory", uint32(bits)}, {"uiBpcSignificant", uint32(bits)}, {"eCompression", int32(2)},
	}, more...)...)
}

// Loops returns an experiment of nested loops, the outermost first.
func Loops(loops ...[]Record) Chunk {
	var inside []Record
	for i := len(loops) - 1; i >= 0; i-- {
		this := loops[i]
		if inside != nil {
			this = append(this[:len(this):len(this)], Record{"ppNextLevelEx", []Record{{"", inside}}})
		}
		inside = this
	}
	return Level("ImageMetadataLV!", "SLxExperiment", inside...)
}

// Times returns a loop of count times, ms apart.
func Times(count int, ms float64) []Record {
	return []Record{{"eType", uint32(1)}, {"uLoopPars", []Record{{"uiCount", uint32(count)}, {"dPeriod", ms}}}}
}

// Slices returns a loop of count slices.
func Slices(count int) []Record {
	return []Record{{"eType", uint32(4)}, {"uLoopPars", []Record{{"uiCount", uint32(count)}, {"dZStep", 0.5}}}}
}

// Pixels returns 4 by 3 pixels of 16 bits. Pixel i of component c of picture n is 1000 n + 100 c + i.
func Pixels(n, components int) (b []byte) {
	for i := range 12 {
		for c := range components {
			b = little.AppendUint16(b, uint16(1000*n+100*c+i))
		}
	}
	return b
}

// Film returns count such pictures, ms apart.
func Film(count, components int, ms float64) (chunks []Chunk) {
	chunks = append(chunks, Attributes(4, 3, components, 16))
	for n := range count {
		chunks = append(chunks, Picture(n, 100+ms*float64(n), Pixels(n, components)))
	}
	return chunks
}
