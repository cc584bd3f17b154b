package files

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// hyperstack writes eight pages, whose first pixels are 1 to 8, with a description.
func hyperstack(t *testing.T, text string) (path string) {
	t.Helper()
	var pages []*tiff.Image
	for i := range 8 {
		pages = append(pages, ingesttest.Page(5, 3, 1, tiff.Uint8, byte(i+1)))
	}
	return ingesttest.Write(t, filepath.Join(t.TempDir(), "a.tif"), describe(join(t, pages...), text))
}

// TestTIFFChoice: the pages of one channel and slice of a hyperstack are frames at the times in the description, and the other pages do not count.
func TestTIFFChoice(t *testing.T) {
	const (
		imagej = "ImageJ=1.53t\nimages=8\nchannels=2\nslices=2\nframes=2\nfinterval=0.25\n"
		ome    = `<OME><Pixels DimensionOrder="XYTZC" SizeC="2" SizeZ="1" SizeT="4" TimeIncrement="0.25"><TiffData/></Pixels></OME>`
	)
	for _, c := range []struct {
		text, query string
		first       []byte // pixels of the frames
	}{
		{imagej, "?channel=1&slice=1", []byte{1, 5}},
		{imagej, "?channel=2&slice=1", []byte{2, 6}},
		{imagej, "?slice=2&channel=1", []byte{3, 7}},
		{ome, "?channel=2", []byte{5, 6, 7, 8}},
		{ome, "?channel=1&slice=1", []byte{1, 2, 3, 4}},
	} {
		options, err := TIFFOptions(hyperstack(t, c.text) + c.query)
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(options)
		if err != nil {
			t.Fatal(err)
		}
		s := openRecording(t, "tiff", string(text)).(*tiffSource)
		if n := s.Info().Frames; n != len(c.first) {
			t.Errorf("%s: %d frames said, %d expected", c.query, n, len(c.first))
		}
		frames, skipped := ingesttest.ReadAll(t, s)
		var first []byte
		for i, f := range frames {
			first = append(first, byte(f.Corner[0]))
			if f.Seq != uint64(i) || f.T != 0.25*float64(i) || f.Dropped != 0 {
				t.Errorf("%s: %+v, frame %d at %g s expected", c.query, f, i, 0.25*float64(i))
			}
		}
		if !reflect.DeepEqual(first, c.first) || len(skipped) > 0 || !reflect.DeepEqual(frames[0].Events, []string{"described_interval"}) {
			t.Errorf("%s: pages %d, skipped %v, events %v; pages %d expected at described times", c.query, first, skipped, frames[0].Events, c.first)
		}
	}
}

// TestTIFFChoiceWrong: the error for an impossible choice lists the possible ones.
func TestTIFFChoiceWrong(t *testing.T) {
	const imagej = "ImageJ=1.53t\nimages=8\nchannels=2\nslices=2\nframes=2\n"
	for _, c := range []struct{ text, options, want string }{
		{imagej, "channel: 3, slice: 1", "channel is 3, 1 to 2 expected"},
		{imagej, "channel: 1", "also give the slice, 1 to 2"},
		{imagej, "slice: 2", "also give the channel, 1 to 2"},
		{"by hand", "channel: 1", "does not map its pages to them"},
		{`<OME><Pixels SizeC="2" SizeT="4" DimensionOrder="XYCZT"><TiffData IFD="1" FirstT="1"/></Pixels></OME>`, "channel: 1", "does not map its pages to them"},
		{imagej, "channel: -1", "numbers from 1 expected"},
		{imagej, "channel: 1, slice: 1, follow: true", "cannot be chosen in a followed file"},
	} {
		source, err := NewTIFF(ingesttest.DecodeYAML("{path: " + hyperstack(t, c.text) + ", " + c.options + "}"))
		if err == nil {
			err = source.Open(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %q expected", c.options, err, c.want)
		}
	}
	for _, query := range []string{"?channel=red", "?z=3", "?channel=%zz"} {
		if _, err := TIFFOptions("a.tif" + query); err == nil || !strings.Contains(err.Error(), "tiff:FILE?channel=2&slice=1") {
			t.Errorf("%s: %v, an error that says how expected", query, err)
		}
	}
}
