package ingesttest

import (
	"bytes"
	"encoding/binary"
	"math"
)

// CZIAxis is the position and length of a subblock along an axis.
type CZIAxis struct {
	Letter      string
	Start, Size int
	Stored      int // 0 means Size
}

// CZIPicture is a subblock.
type CZIPicture struct {
	Axes        []CZIAxis
	Pixel       int
	Compression int
	Data        []byte // as it is stored
	Tags        string // its metadata
	Part        int
}

// CZI describes the contents of a file.
type CZI struct {
	Pictures []CZIPicture
	Metadata string
	Stamps   []float64 // seconds
	Spare    int       // bytes between segments
	Part     int
	Unended  bool // without a directory
}

// CZIAt returns the axes of a whole picture.
func CZIAt(t, c, z, width, height int) []CZIAxis {
	return []CZIAxis{{Letter: "X", Size: width}, {Letter: "Y", Size: height}, {Letter: "C", Start: c, Size: 1}, {Letter: "Z", Start: z, Size: 1}, {Letter: "T", Start: t, Size: 1}}
}

var little = binary.LittleEndian

// cziSegment appends a segment and returns its offset.
func cziSegment(b *[]byte, name string, data []byte, spare int) int64 {
	at := len(*b)
	head := make([]byte, 32)
	copy(head, name)
	little.PutUint64(head[16:], uint64(len(data)+spare))
	little.PutUint64(head[24:], uint64(len(data)))
	*b = append(append(*b, head...), data...)
	*b = append(*b, make([]byte, spare)...)
	return int64(at)
}

// entry returns the directory entry of a picture at an offset.
func (p *CZIPicture) entry(at int64) []byte {
	b := make([]byte, 32)
	copy(b, "DV")
	little.PutUint32(b[2:], uint32(p.Pixel))
	little.PutUint64(b[6:], uint64(at))
	little.PutUint32(b[14:], uint32(p.Part))
	little.PutUint32(b[18:], uint32(p.Compression))
	little.PutUint32(b[28:], uint32(len(p.Axes)))
	for _, a := range p.Axes {
		axis := make([]byte, 20)
		copy(axis, a.Letter)
		little.PutUint32(axis[4:], uint32(int32(a.Start)))
		little.PutUint32(axis[8:], uint32(int32(a.Size)))
		stored := a.Stored
		if stored == 0 {
			stored = a.Size
		}
		little.PutUint32(axis[16:], uint32(int32(stored)))
		b = append(b, axis...)
	}
	return b
}

// Bytes writes the file.
func (f *CZI) Bytes() []byte {
	b := make([]byte, 32+512) // the header, filled in last
	var directory bytes.Buffer
	for i := range f.Pictures {
		p := &f.Pictures[i]
		at := int64(len(b))
		entry := p.entry(at)
		data := make([]byte, 16)
		little.PutUint32(data, uint32(len(p.Tags)))
		little.PutUint64(data[8:], uint64(len(p.Data)))
		data = append(data, entry...)
		if len(data) < 256 {
			data = append(data, make([]byte, 256-len(data))...)
		}
		data = append(append(data, p.Tags...), p.Data...)
		cziSegment(&b, "ZISRAWSUBBLOCK", data, f.Spare)
		directory.Write(entry)
	}
	head := make([]byte, 80)
	little.PutUint32(head, 1)
	little.PutUint32(head[48:], uint32(f.Part))
	if !f.Unended {
		list := make([]byte, 128)
		little.PutUint32(list, uint32(len(f.Pictures)))
		little.PutUint64(head[52:], uint64(cziSegment(&b, "ZISRAWDIRECTORY", append(list, directory.Bytes()...), f.Spare)))
	}
	if f.Metadata != "" {
		data := make([]byte, 256)
		little.PutUint32(data, uint32(len(f.Metadata)))
		little.PutUint64(head[60:], uint64(cziSegment(&b, "ZISRAWMETADATA", append(data, f.Metadata...), f.Spare)))
	}
	if f.Stamps != nil {
		little.PutUint64(head[72:], uint64(f.attach(&b)))
	}
	segmentHead := make([]byte, 32)
	copy(segmentHead, "ZISRAWFILE")
	little.PutUint64(segmentHead[16:], 512)
	little.PutUint64(segmentHead[24:], 512)
	copy(b, append(segmentHead, head...))
	return b
}

// attach writes the time stamps and a directory that points to them, after another attachment.
func (f *CZI) attach(b *[]byte) int64 {
	attachment := func(name, kind string, content []byte) (entry []byte) {
		entry = make([]byte, 128)
		copy(entry, "A1")
		little.PutUint64(entry[12:], uint64(len(*b)))
		copy(entry[40:], kind)
		copy(entry[48:], name)
		data := make([]byte, 16)
		little.PutUint32(data, uint32(len(content)))
		data = append(data, entry...)
		data = append(data, make([]byte, 112)...)
		cziSegment(b, "ZISRAWATTACH", append(data, content...), f.Spare)
		return entry
	}
	stamps := make([]byte, 8)
	little.PutUint32(stamps, uint32(8+8*len(f.Stamps)))
	little.PutUint32(stamps[4:], uint32(len(f.Stamps)))
	for _, s := range f.Stamps {
		stamps = little.AppendUint64(stamps, math.Float64bits(s))
	}
	list := make([]byte, 256)
	little.PutUint32(list, 2)
	list = append(list, attachment("Thumbnail", "JPG", []byte("x"))...)
	list = append(list, attachment("TimeStamps", "CZTIMS", stamps)...)
	return cziSegment(b, "ZISRAWATTDIR", list, f.Spare)
}

// Words returns 16-bit numbers in the byte order of a picture.
func Words(values ...uint16) (b []byte) {
	for _, v := range values {
		b = little.AppendUint16(b, v)
	}
	return b
}

// CZIFilm returns a file with the given numbers of times, channels and slices, of 4 by 3 pixels of 16 bits. Pixel n of a picture
// is 1000 t + 100 c + 20 z + n.
func CZIFilm(times, channels, slices int) *CZI {
	f := &CZI{Spare: 16}
	for t := range times {
		for c := range channels {
			for z := range slices {
				var values []uint16
				for n := range 12 {
					values = append(values, uint16(1000*t+100*c+20*z+n))
				}
				f.Pictures = append(f.Pictures, CZIPicture{Axes: CZIAt(t, c, z, 4, 3), Pixel: 1, Data: Words(values...)})
			}
		}
	}
	return f
}
