package tiff

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// TestSeries: the numbers of channels, slices and times in descriptions of ImageJ and OME-XML are read, and other descriptions are ignored.
func TestSeries(t *testing.T) {
	const ome = `<?xml version="1.0" encoding="UTF-8"?><!-- a comment --><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0" Name="5 &#181;M">`
	for text, want := range map[string]Series{
		"":                                   {1, 1, 1, 0, ""},
		"channels=2\nfinterval=2\n":          {1, 1, 1, 0, ""}, // not a description of ImageJ
		"ImageJ=1.53t\nimages=5\nslices=5\n": {1, 1, 1, 0, "CZT"},
		"ImageJ=1.53t\nimages=6\nchannels=2\nframes=3\n":                                      {2, 1, 3, 0, "CZT"},
		"ImageJ=1.53t\nimages=24\nchannels=2\nslices=4\nframes=3\nfinterval=0.5\n":            {2, 4, 3, 0.5, "CZT"},
		"ImageJ=1.53t\nimages=3\nframes=3\nfinterval=40.0\ntunit=ms\n":                        {1, 1, 3, 0.04, "CZT"},
		"ImageJ=1.53t\nframes=3\nfinterval=2\ntunit=fortnight\n":                              {1, 1, 3, 0, "CZT"},
		"ImageJ=1.53t\nframes=3\nfinterval=NaN\nchannels=-2\n":                                {1, 1, 3, 0, "CZT"},
		ome + `<Pixels SizeC="2" SizeT="9" SizeZ="3" TimeIncrement="10.0">`:                   {2, 3, 9, 10, ""},
		ome + `<Pixels SizeC="2" SizeT="9" SizeZ="3" DimensionOrder="XYZTC"/>`:                {2, 3, 9, 0, "ZTC"},
		ome + `<Pixels SizeC="2" SizeT="9" DimensionOrder="XYZZZ"/>`:                          {2, 1, 9, 0, ""},
		ome + `<Pixels SizeC="1" SizeT="9" TimeIncrement="1" TimeIncrementUnit="min"/>`:       {1, 1, 9, 60, ""},
		ome + `<Pixels SizeC="1" SizeT="9" TimeIncrement="250" TimeIncrementUnit="µs">`:       {1, 1, 9, 250e-6, ""},
		ome + `<Pixels SizeC="1" TimeIncrement="0.0"></Pixels><Pixels TimeIncrement="3">`:     {1, 1, 1, 0, ""}, // of the first image
		ome + strings.Repeat("<", 100):                                                        {1, 1, 1, 0, ""},
		ome + `<Pixels SizeC="99999999999999999999" SizeZ="-1" TimeIncrement="-1">`:           {1, 1, 1, 0, ""},
		ome + `<Annotation>` + strings.Repeat("x", 1<<20) + `</Annotation><Pixels SizeC="2">`: {1, 1, 1, 0, ""}, // beyond the part read
		`<Pixels`: {1, 1, 1, 0, ""},

		ome + `<Pixels SizeC="2" SizeT="2" DimensionOrder="XYCTZ"><TiffData/></Pixels>`:                               {2, 1, 2, 0, "CTZ"},
		ome + `<Pixels SizeC="2" SizeT="2" DimensionOrder="XYCTZ"><TiffData IFD="3" FirstC="1" FirstT="1"/></Pixels>`: {2, 1, 2, 0, "CTZ"},
		ome + `<Pixels SizeC="2" SizeT="2" DimensionOrder="XYCTZ"><TiffData IFD="1" FirstT="1"/></Pixels>`:            {2, 1, 2, 0, ""}, // at a position that contradicts the order
		ome + `<Pixels SizeC="2" SizeZ="2" DimensionOrder="XYCTZ"><TiffData IFD="2"/></Pixels>`:                       {2, 2, 1, 0, ""},
		ome + `<Pixels SizeC="2" DimensionOrder="XYCTZ"/><Pixels><TiffData IFD="1"/></Pixels>`:                        {2, 1, 1, 0, "CTZ"}, // of the second image
	} {
		page := grey16(0)
		page.description = text
		if got := open(t, build(t, binary.LittleEndian, false, page)).Series(); got != want {
			t.Errorf("%.200q: %+v, %+v expected", text, got, want)
		}
	}
}

// TestSeriesAt: a page's channel and slice follow from the order of the axes that the formats' documents define.
func TestSeriesAt(t *testing.T) {
	at := func(s Series, pages int) (places [][2]int) {
		for page := range pages {
			channel, slice := s.At(page)
			places = append(places, [2]int{channel, slice})
		}
		return places
	}
	for order, want := range map[string][][2]int{
		"CZT": {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 0}, {1, 0}},
		"ZCT": {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 0}, {0, 1}},
		"CTZ": {{0, 0}, {1, 0}, {0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 1}, {1, 1}},
		"TZC": {{0, 0}, {0, 0}, {0, 1}, {0, 1}, {0, 2}, {0, 2}, {1, 0}, {1, 0}},
	} {
		if got := at(Series{Channels: 2, Slices: 3, Times: 2, order: order}, 8); !slices.Equal(got, want) {
			t.Errorf("%s: pages at %v, %v expected", order, got, want)
		}
	}
}
