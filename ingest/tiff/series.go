package tiff

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// Series is what a file's description, ImageJ's or OME-XML, says of its pages.
type Series struct {
	Channels, Slices, Times int     // 1 where nothing is said; slices and channels at each time
	Interval                float64 // from one time to the next, in seconds; 0 where nothing is said

	order string // of channels C, slices Z and times T, that which changes first in front; none where pages lie otherwise
}

// unsaid is the series of a file without a description.
var unsaid = Series{Channels: 1, Slices: 1, Times: 1}

// Mixed says that pages differ in more than time.
func (s Series) Mixed() bool { return s.Channels > 1 || s.Slices > 1 }

// Regular says that At is known, because pages lie in the order of their axes.
func (s Series) Regular() bool { return s.order != "" }

// At is the channel and the slice of a page, all counted from 0, of a series that is regular.
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

// units are those of time that ImageJ and OME-XML write, in seconds.
var units = map[string]float64{
	"": 1, "s": 1, "sec": 1, "second": 1, "seconds": 1, "ms": 1e-3, "msec": 1e-3, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "us": 1e-6, "ns": 1e-9, "min": 60, "h": 3600,
}

// Series is what the file's description says. Good after the first page was read and before the second is.
func (f *File) Series() Series {
	text := f.description()
	if bytes.HasPrefix(text, []byte("ImageJ=")) {
		return imageJ(text).series()
	}
	return omeSeries(text, max(1, f.page.samples))
}

// description is the first of the text that the current page carries, none where it cannot be read.
func (f *File) description() []byte {
	const limit = 1 << 20 // ImageJ and OME-XML begin with the counts; of OME-XML all pages' times may come behind them
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

// imageJ is a description of lines key=value, ImageJ's where it begins with its name.
type imageJ []byte

// series takes slices without times for times, as ImageJ describes any stack.
func (d imageJ) series() Series {
	s := unsaid
	s.order = "CZT" // always
	s.Channels, s.Interval = max(1, count(d.value("channels"))), seconds(d.value("finterval"), d.value("tunit"))
	if frames := count(d.value("frames")); frames > 1 {
		s.Slices, s.Times = max(1, count(d.value("slices"))), frames
	}
	return s
}

// value is what stands behind key=, nothing in what is not ImageJ's.
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

// omeSeries is what the first Pixels of an OME-XML say. Colours of one page, samples, are one channel.
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

// said are the attributes of an element.
func said(e xml.StartElement) map[string]string {
	values := make(map[string]string)
	for _, a := range e.Attr {
		values[a.Name.Local] = a.Value
	}
	return values
}

// omePixels is the series of a Pixels element.
func omePixels(said map[string]string, samples int) Series {
	s := Series{Channels: max(1, count(said["SizeC"])/samples), Slices: max(1, count(said["SizeZ"])), Times: max(1, count(said["SizeT"]))}
	s.Interval = seconds(said["TimeIncrement"], said["TimeIncrementUnit"])
	switch order := said["DimensionOrder"]; order {
	case "XYCZT", "XYCTZ", "XYZCT", "XYZTC", "XYTCZ", "XYTZC":
		s.order = order[2:]
	}
	return s
}

// holds says whether a TiffData element, which may give any page any place, puts it where the order of the axes does.
func (s Series) holds(said map[string]string) bool {
	if !s.Regular() {
		return false
	}
	channel, slice := s.At(count(said["IFD"]))
	return channel == count(said["FirstC"]) && slice == count(said["FirstZ"])
}

// count is a number of pages, 0 where the text is none.
func count(text string) int {
	if n, err := strconv.Atoi(text); err == nil && 0 < n && n <= MaxPages {
		return n
	}
	return 0
}

// seconds is a time in a unit, 0 where one of them is not known.
func seconds(text, unit string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) {
		return 0
	}
	return v * units[unit]
}
