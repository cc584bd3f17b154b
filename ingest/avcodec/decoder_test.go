package avcodec_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/avcodec"
	"driftscope/ingest/ingesttest"
)

// decode sends units and returns the numbers that the decoded pictures show: -1 for a torn picture reported as whole, -2 for one reported as torn.
func decode(t *testing.T, d *avcodec.Decoder, units []ingesttest.Unit) (shown []int) {
	t.Helper()
	receive := func() {
		for {
			p, err := d.Receive()
			if errors.Is(err, avcodec.ErrMore) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pixels := make([]byte, 3*p.Width*p.Height)
			if err := p.CopyTo(pixels); err != nil {
				t.Fatal(err)
			}
			if err := p.CopyTo(pixels[1:]); err == nil {
				t.Error("a picture was copied into too few bytes")
			}
			n := ingesttest.Recognise(pixels, 3, 64)
			if !p.Whole {
				n = -2
			}
			if n >= 0 && p.Stamp != time.Duration(n)*time.Millisecond {
				t.Errorf("picture %d has the stamp %v", n, p.Stamp)
			}
			if p.Width != ingesttest.Width || p.Height != ingesttest.Height || p.Bits != 8 {
				t.Errorf("a picture of %dx%d, %d bits", p.Width, p.Height, p.Bits)
			}
			shown = append(shown, n)
		}
	}
	for _, u := range units {
		if err := d.Send(u.Data, time.Duration(u.Number)*time.Millisecond); err != nil {
			shown = append(shown, -2)
			continue
		}
		receive()
	}
	if err := d.Send(nil, 0); err != nil {
		t.Fatal(err)
	}
	receive()
	d.Flush()
	return shown
}

func open(t *testing.T, codec avcodec.Codec) *avcodec.Decoder {
	t.Helper()
	d, err := avcodec.Open(codec, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// TestDecoder: every picture is decoded whole, in order and with its stamp, and without delay if no picture depends on later ones.
func TestDecoder(t *testing.T) {
	const n = 24
	for name, s := range map[string]ingesttest.Stream{
		"H.264":            {Codec: avcodec.H264, GOP: 8},
		"H.264, reordered": {Codec: avcodec.H264, GOP: 8, Reordered: true},
		"H.265":            {Codec: avcodec.H265, GOP: 8},
		"H.265, reordered": {Codec: avcodec.H265, GOP: 8, Reordered: true},
	} {
		t.Run(name, func(t *testing.T) {
			units := s.Encode(t, n)
			d := open(t, s.Codec)
			for range 2 { // after Flush a new stream begins
				shown := decode(t, d, units)
				for i, got := range shown {
					if got != i {
						t.Fatalf("pictures %v, %d in order expected", shown, n)
					}
				}
				if len(shown) != n {
					t.Errorf("%d pictures of %d", len(shown), n)
				}
			}
			if s.Reordered {
				return
			}
			if err := d.Send(units[0].Data, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Receive(); err != nil {
				t.Errorf("the first picture waits for a second: %v", err)
			}
		})
	}
}

// TestDecoderTorn: if FFmpeg detects that the rest of a picture is missing, the picture is reported as torn. FFmpeg does not detect this in H.265, or close to
// a picture's end; there the caller must use its knowledge of lost packets.
func TestDecoderTorn(t *testing.T) {
	units := ingesttest.Stream{Codec: avcodec.H264, GOP: 8}.Encode(t, 6)
	const torn = 4
	units[torn].Data = units[torn].Data[:len(units[torn].Data)/2]
	if shown := decode(t, open(t, avcodec.H264), units[:torn+1]); len(shown) != torn+1 || shown[torn] != -2 {
		t.Errorf("pictures %v, the last one torn expected", shown)
	}
}

func TestDecoderRefused(t *testing.T) {
	units := ingesttest.Stream{Codec: avcodec.H264, GOP: 8}.Encode(t, 2)
	d, err := avcodec.Open(avcodec.H264, ingesttest.Width*ingesttest.Height-1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Send(units[0].Data, 0); err == nil {
		if _, err = d.Receive(); err == nil {
			t.Error("a picture that is larger than allowed was decoded")
		}
	}
	d.Close()
	d = open(t, avcodec.H265)
	if err := d.Send([]byte(strings.Repeat("no video ", 9)), 0); err == nil {
		t.Error("what is no video was decoded")
	}
}
