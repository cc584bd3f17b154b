package tiff

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// Series is the description of a file's pages by ImageJ or OME-XML.
type Series struct {
	Channels, Slices, Times int     // 1 if unknown; slices and channels per time
	Interval                float64 // time step in seconds; 0 if unknown

	order string // order of channels C, slices Z and times T, fastest first; empty if pages follow no such order
}

// unsaid is the series of a file without a description.
var unsaid = Series{Channels: 1, Slices: 1, Times: 1}

// Mixed reports that pages differ in channel or slice, too, not only in time.
func (s Series) Mixed() bool { return s.Channels > 1 || s.Slices > 1 }

// Regular reports that At is valid, because pages follow the order of the axes.
func (s Series) Regular() bool { return s.order != "" }

// At returns the channel and the slice of a page in a regular series. All three count from 0.
func (s Series) At(page int) (channel, slice int) {
	for _, axis := range s.order {
		switch axis {
		case 'C':
			channel, page = page%s.Channels, page/s.Channels
		case 'Z':
			slice, page = page%s.Slices, page/s.Slices
		case 'T':
			page /= s.Times
		}
	}
	return channel, slice
}

// units are the time units of ImageJ and OME-XML, in seconds.
var units = map[string]float64{
	"": 1, "s": 1, "sec": 1, "second": 1, "seconds": 1, "ms": 1e-3, "msec": 1e-3, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "us": 1e-6, "ns": 1e-9, "min": 60, "h": 3600,
}

// Series returns the file's description. Valid after the first page was read and before the second is.
func (f *File) Series() Series {
	text := f.description()
	if bytes.HasPrefix(text, []byte("ImageJ=")) {
		return imageJ(text).series()
	}
	return omeSeries(text, max(1, f.page.samples))
}

// description returns the beginning of the current page's description, or nil if it cannot be read.
func (f *File) description() []byte {
	const limit = 1 << 20 // ImageJ and OME-XML begin with the counts; OME-XML may continue with every page's time
	e := f.find(tagDescription)
	if e == nil {
		return nil
	}
	text, err := f.valueBytes(e, limit)
	if err != nil {
		return nil
	}
	return text
}

// imageJ is a description with lines key=value. It is ImageJ's if it begins with ImageJ=.
type imageJ []byte

// series counts slices as times if there are no times, because ImageJ describes every stack as slices.
func (d imageJ) series() Series {
	s := unsaid
	s.order = "CZT" // always
	s.Channels, s.Interval = max(1, count(d.value("channels"))), seconds(d.value("finterval"), d.value("tunit"))
	if frames := count(d.value("frames")); frames > 1 {
		s.Slices, s.Times = max(1, count(d.value("slices"))), frames
	}
	return s
}

// value returns the text after key=, or "" if the description is not ImageJ's.
func (d imageJ) value(key string) string {
	if !bytes.HasPrefix(d, []byte("ImageJ=")) {
		return ""
	}
	for line := range bytes.Lines(d) {
		if value, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte(key+"=")); found {
			return string(value)
		}
	}
	return ""
}

// omeSeries returns the series of the first Pixels element of an OME-XML. samples is the number of colours per page, which together are one channel.
func omeSeries(text []byte, samples int) Series {
	s, inside := unsaid, false
	if !bytes.HasPrefix(text, []byte("<")) {
		return s
	}
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.RawToken()
		if err != nil {
			return s
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch {
			case e.Name.Local == "Pixels":
				s, inside = omePixels(said(e), samples), true
			case inside && e.Name.Local == "TiffData" && !s.holds(said(e)):
				s.order = ""
			}
		case xml.EndElement:
			if e.Name.Local == "Pixels" {
				return s
			}
		}
	}
}

// said returns the attributes of an element by name.
func said(e xml.StartElement) map[string]string {
	values := make(map[string]string)
	for _, a := range e.Attr {
		values[a.Name.Local] = a.Value
	}
	return values
}

// omePixels returns the series of a Pixels element.
func omePixels(said map[string]string, samples int) Series {
	s := Series{Channels: max(1, count(said["SizeC"])/samples), Slices: max(1, count(said["SizeZ"])), Times: max(1, count(said["SizeT"]))}
	s.Interval = seconds(said["TimeIncrement"], said["TimeIncrementUnit"])
	switch order := said["DimensionOrder"]; order {
	case "XYCZT", "XYCTZ", "XYZCT", "XYZTC", "XYTCZ", "XYTZC":
		s.order = order[2:]
	}
	return s
}

// holds reports whether a TiffData element, which can map any page to any position, agrees with the order of the axes.
func (s Series) holds(said map[string]string) bool {
	if !s.Regular() {
		return false
	}
	channel, slice := s.At(count(said["IFD"]))
	return channel == count(said["FirstC"]) && slice == count(said["FirstZ"])
}

// count parses a number of pages; it returns 0 for anything else.
func count(text string) int {
	if n, err := strconv.Atoi(text); err == nil && 0 < n && n <= MaxPages {
		return n
	}
	return 0
}

// seconds converts a time with its unit, or returns 0 if either is unknown.
func seconds(text, unit string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) {
		return 0
	}
	return v * units[unit]
}
