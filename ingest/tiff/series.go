package tiff

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// Series is what a file's description, ImageJ's or OME-XML, says of its pages.
type Series struct {
	Channels, Slices int     // at each time; 1 where nothing is said
	Interval         float64 // from one time to the next, in seconds; 0 where nothing is said
}

// Mixed says that pages differ in more than time.
func (s Series) Mixed() bool { return s.Channels > 1 || s.Slices > 1 }

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
	s := Series{Channels: max(1, count(d.value("channels"))), Slices: 1, Interval: seconds(d.value("finterval"), d.value("tunit"))}
	if count(d.value("frames")) > 1 {
		s.Slices = max(1, count(d.value("slices")))
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
	s := Series{Channels: 1, Slices: 1}
	pixels, found := firstPixels(text)
	if !found {
		return s
	}
	said := make(map[string]string)
	for _, a := range pixels.Attr {
		said[a.Name.Local] = a.Value
	}
	s.Channels, s.Slices = max(1, count(said["SizeC"])/samples), max(1, count(said["SizeZ"]))
	s.Interval = seconds(said["TimeIncrement"], said["TimeIncrementUnit"])
	return s
}

// firstPixels is the first element of that name in an OME-XML.
func firstPixels(text []byte) (xml.StartElement, bool) {
	if !bytes.HasPrefix(text, []byte("<")) {
		return xml.StartElement{}, false
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.RawToken()
		if err != nil {
			return xml.StartElement{}, false
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "Pixels" {
			return e, true
		}
	}
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
