package tiff

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestSeries: what ImageJ and OME-XML say of channels, slices and times is read, and what neither wrote is not.
func TestSeries(t *testing.T) {
	const ome = `<?xml version="1.0" encoding="UTF-8"?><!-- a comment --><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0" Name="5 &#181;M">`
	for text, want := range map[string]Series{
		"":                                   {1, 1, 0},
		"channels=2\nfinterval=2\n":          {1, 1, 0}, // not ImageJ's
		"ImageJ=1.53t\nimages=5\nslices=5\n": {1, 1, 0},
		"ImageJ=1.53t\nimages=6\nchannels=2\nframes=3\n":                                      {2, 1, 0},
		"ImageJ=1.53t\nimages=24\nchannels=2\nslices=4\nframes=3\nfinterval=0.5\n":            {2, 4, 0.5},
		"ImageJ=1.53t\nimages=3\nframes=3\nfinterval=40.0\ntunit=ms\n":                        {1, 1, 0.04},
		"ImageJ=1.53t\nframes=3\nfinterval=2\ntunit=fortnight\n":                              {1, 1, 0},
		"ImageJ=1.53t\nframes=3\nfinterval=NaN\nchannels=-2\n":                                {1, 1, 0},
		ome + `<Pixels SizeC="2" SizeT="9" SizeZ="3" TimeIncrement="10.0">`:                   {2, 3, 10},
		ome + `<Pixels SizeC="1" SizeT="9" TimeIncrement="1" TimeIncrementUnit="min"/>`:       {1, 1, 60},
		ome + `<Pixels SizeC="1" SizeT="9" TimeIncrement="250" TimeIncrementUnit="µs">`:       {1, 1, 250e-6},
		ome + `<Pixels SizeC="1" TimeIncrement="0.0"></Pixels><Pixels TimeIncrement="3">`:     {1, 1, 0}, // of the first image
		ome + strings.Repeat("<", 100):                                                        {1, 1, 0},
		ome + `<Pixels SizeC="99999999999999999999" SizeZ="-1" TimeIncrement="-1">`:           {1, 1, 0},
		ome + `<Annotation>` + strings.Repeat("x", 1<<20) + `</Annotation><Pixels SizeC="2">`: {1, 1, 0}, // beyond what is read
		`<Pixels`: {1, 1, 0},
	} {
		page := grey16(0)
		page.description = text
		if got := open(t, build(t, binary.LittleEndian, false, page)).Series(); got != want {
			t.Errorf("%.200q: %+v, %+v expected", text, got, want)
		}
	}
}
