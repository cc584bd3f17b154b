package czi

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"time"
)

// document is the part of a file's metadata that the package uses. Numbers are strings, because one invalid number would otherwise fail the decoding of all.
type document struct {
	Channels []struct {
		Name string `xml:"Name,attr"`
	} `xml:"Metadata>Information>Image>Dimensions>Channels>Channel"`
	Increment string `xml:"Metadata>Information>Image>Dimensions>T>Positions>Interval>Increment"`
	Distances []struct {
		Axis  string `xml:"Id,attr"`
		Value string `xml:"Value"` // metres
	} `xml:"Metadata>Scaling>Items>Distance"`
}

// describe reads the metadata. Invalid metadata are ignored.
func (f *Film) describe(at int64) {
	const spare = 256
	head, err := f.segment(nil, at, "ZISRAWMETADATA", spare)
	if err != nil {
		return
	}
	n := binary.LittleEndian.Uint32(head)
	if n > maxXML {
		return
	}
	text, err := f.file.Bytes(nil, uint64(at+headBytes+spare), uint64(n))
	if err != nil {
		return
	}
	var d document
	if xml.Unmarshal(bytes.TrimRight(text, "\x00"), &d) != nil {
		return
	}
	for _, c := range d.Channels[:min(len(d.Channels), f.Channels, 64)] {
		f.Labels = append(f.Labels, c.Name)
	}
	f.Interval = positive(d.Increment)
	for _, distance := range d.Distances {
		const um = 1e6 // per metre
		switch distance.Axis {
		case "X":
			f.PixelUM[0] = um * positive(distance.Value)
		case "Y":
			f.PixelUM[1] = um * positive(distance.Value)
		}
	}
}

// positive parses a positive number; it returns 0 for anything else.
func positive(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// readStamps reads the attachment with the time stamps in seconds, if it exists and has one per time.
func (f *Film) readStamps(at int64) {
	const (
		spare      = 256
		entryBytes = 128
	)
	little := binary.LittleEndian
	head, err := f.segment(nil, at, "ZISRAWATTDIR", spare)
	if err != nil {
		return
	}
	const most = 1 << 12 // attachments
	for n := range min(little.Uint32(head), most) {
		e, err := f.file.Bytes(nil, uint64(at+headBytes+spare+int64(n)*entryBytes), entryBytes)
		if err != nil || string(e[:2]) != "A1" {
			return
		}
		name, _, _ := bytes.Cut(e[48:], []byte{0})
		if string(name) != "TimeStamps" {
			continue
		}
		where := int64(little.Uint64(e[12:]))
		if _, err := f.segment(nil, where, "ZISRAWATTACH", spare); err != nil {
			return
		}
		sizes, err := f.file.Bytes(nil, uint64(where+headBytes+spare), 8)
		if err != nil || int64(little.Uint32(sizes[4:])) != int64(f.Times) {
			return
		}
		b, err := f.file.Bytes(nil, uint64(where+headBytes+spare+8), uint64(8*f.Times))
		if err != nil {
			return
		}
		f.stamps = make([]float64, f.Times)
		for i := range f.stamps {
			f.stamps[i] = math.Float64frombits(little.Uint64(b[8*i:]))
		}
		return
	}
}

// At returns the acquisition time of a picture in seconds: from the time stamps, which count from the beginning, or else from the picture's metadata, which
// count from the Unix epoch. It returns NaN if both are missing.
func (f *Film) At(when, channel, slice int) (float64, error) {
	if f.stamps != nil && (f.Times > 1 || f.Slices == 1) {
		return f.stamps[when], nil
	}
	e := f.pictures[place{when, channel, slice}]
	if e == nil {
		return math.NaN(), nil
	}
	s, err := f.locate(e)
	if err != nil || s.tagBytes == 0 || s.tagBytes > maxTags {
		return math.NaN(), err
	}
	if f.tags, err = f.file.Bytes(f.tags, uint64(s.tags), uint64(s.tagBytes)); err != nil {
		return math.NaN(), err
	}
	text, found := between(f.tags, "<AcquisitionTime>", "</AcquisitionTime>")
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(text))
	if !found || err != nil {
		return math.NaN(), nil
	}
	return float64(at.Unix()) + float64(at.Nanosecond())/1e9, nil
}
