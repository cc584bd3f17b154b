package rtsp

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/bluenviron/gortsplib/v5/pkg/format"
	"github.com/bluenviron/gortsplib/v5/pkg/format/rtpmjpeg"
	"github.com/pion/rtp"
)

// jpegPackets returns the packets of a picture, with tables, and the picture decoded without a network.
func jpegPackets(t *testing.T, seed byte) ([]*rtp.Packet, image.Image) {
	t.Helper()
	img := image.NewYCbCr(image.Rect(0, 0, 64, 48), image.YCbCrSubsampleRatio420)
	for i := range img.Y {
		img.Y[i] = byte(i)*seed + byte(i/64)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		t.Fatal(err)
	}
	e, err := (&format.MJPEG{}).CreateEncoder()
	if err != nil {
		t.Fatal(err)
	}
	e.PayloadMaxSize = 400
	packets, err := e.Encode(file.Bytes())
	if err != nil || len(packets) < 2 {
		t.Fatalf("%d packets, %v", len(packets), err)
	}
	want, err := jpeg.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	return packets, want
}

// received adds the packets, modified by change, and decodes the resulting file.
func received(u *jpegUnit, packets []*rtp.Packet, change func(first bool, payload []byte) []byte) (image.Image, error) {
	u.reset()
	for i, p := range packets {
		file, err := u.add(&rtp.Packet{Header: p.Header, Payload: change(i == 0, bytes.Clone(p.Payload))})
		if errors.Is(err, rtpmjpeg.ErrMorePacketsNeeded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return jpeg.Decode(bytes.NewReader(file))
	}
	return nil, errors.New("no picture")
}

// TestJPEG: packets that the library rejects or completes only in part give the picture that was sent.
func TestJPEG(t *testing.T) {
	const tables = jpegHeader + tablesHeader + 128
	as := func(change func(p []byte)) func(bool, []byte) []byte {
		return func(_ bool, p []byte) []byte { change(p); return p }
	}
	for _, c := range []struct {
		name   string
		told   size
		change func(first bool, payload []byte) []byte
		want   string // text of the expected error
	}{
		{"plain", size{}, as(func([]byte) {}), ""},
		{"of another size by the session, which counts for nothing", size{128, 128}, as(func([]byte) {}), ""},
		{"large", size{64, 48}, as(func(p []byte) { p[6], p[7] = 0, 0 }), ""},
		{"large, by nobody told", size{}, as(func(p []byte) { p[6], p[7] = 0, 0 }), "does not give the size of its pictures"},
		{"of an old Q without tables", size{}, func(first bool, p []byte) []byte {
			p[5] = 200
			if first {
				p[jpegHeader+2], p[jpegHeader+3] = 0, 0
				p = append(p[:jpegHeader+tablesHeader], p[tables:]...)
			}
			return p
		}, "have not arrived yet"},
		// With an interval longer than the picture, the scan is the same as without restart markers.
		{"with restart markers", size{}, func(_ bool, p []byte) []byte {
			p[4] += withRestart
			return append(append(append([]byte{}, p[:jpegHeader]...), 100, 0, 0xff, 0xff), p[jpegHeader:]...)
		}, ""},
		{"of an unknown type", size{}, as(func(p []byte) { p[4] = 5 }), "type 5"},
		{"cut off", size{}, func(_ bool, p []byte) []byte { return p[:7] }, "7 bytes"},
		{"restart markers cut off", size{}, func(_ bool, p []byte) []byte { p[4] += withRestart; return p[:11] }, "11 bytes"},
		{"tables cut off", size{}, func(_ bool, p []byte) []byte { return p[:11] }, "cut off"},
		{"tables too long", size{}, as(func(p []byte) { p[jpegHeader+2] = 0xff }), "65408 bytes"},
	} {
		packets, want := jpegPackets(t, 3)
		u := jpegUnit{told: c.told}
		got, err := received(&u, packets, c.change)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, %q expected", c.name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case !bytes.Equal(got.(*image.YCbCr).Y, want.(*image.YCbCr).Y):
			t.Errorf("%s: another picture", c.name)
		}
	}
}

// TestJPEGTables: later pictures with the same Q use the tables of an earlier picture. With restart markers the file contains their interval.
func TestJPEGTables(t *testing.T) {
	var u jpegUnit
	for i := range 3 {
		packets, want := jpegPackets(t, byte(i+2))
		got, err := received(&u, packets, func(first bool, p []byte) []byte {
			p[5] = 200
			if first && i > 0 {
				p[jpegHeader+2], p[jpegHeader+3] = 0, 0
				p = append(p[:jpegHeader+tablesHeader], p[jpegHeader+tablesHeader+128:]...)
			}
			return p
		})
		if err != nil || !bytes.Equal(got.(*image.YCbCr).Y, want.(*image.YCbCr).Y) {
			t.Errorf("picture %d: %v", i, err)
		}
	}
	u.restart = 0x1234
	plain := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 3, 0, 0xff, 0xc0, 0, 17, 8, 0, 48, 0, 64, 3}
	file, err := u.complete(bytes.Clone(plain))
	if err != nil || !bytes.Equal(file[7:13], []byte{0xff, 0xdd, 0, 4, 0x12, 0x34}) || len(file) != len(plain)+6 {
		t.Errorf("% x, %v", file, err)
	}
	if file, err := u.complete(plain[:12]); err == nil {
		t.Errorf("% x of a file without a frame", file)
	}
}

// TestFill: a side is taken from the session if it agrees with the byte in the packets.
func TestFill(t *testing.T) {
	for _, c := range []struct{ packets, told, want int }{
		{640, 0, 640}, {640, 640, 640}, {640, 638, 638}, {640, 320, 640}, {0, 2560, 2560}, {2560 % 2048, 2560, 2560}, {0, 0, -1},
	} {
		side := []byte{byte(c.packets >> 8), byte(c.packets)}
		err := fill(side, c.told)
		if got := int(side[0])<<8 | int(side[1]); (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%d and %d told: %d, %v", c.packets, c.told, got, err)
		}
	}
}

// TestSizeTold reads sizes of several media, and rejects impossible sizes.
func TestSizeTold(t *testing.T) {
	const sdp = "v=0\r\na=control:*\r\nm=audio 0 RTP/AVP 8\r\na=control:stream=0\r\nm=video 0 RTP/AVP 26\r\na=x-dimensions:2560,1536\r\na=control:stream=1\r\nm=video 0 RTP/AVP 96\na=control:track2\na=framesize:96 4000-3000\n"
	for control, want := range map[string]size{"stream=0": {}, "stream=1": {2560, 1536}, "track2": {4000, 3000}, "*": {}, "": {}} {
		if got := sizeTold([]byte(sdp), control); got != want {
			t.Errorf("%q: %v, %v expected", control, got, want)
		}
	}
	for _, text := range []string{"", "2560", "0,1", "-5,5", "70000,3", "x,y"} {
		if got := parsedSize(text, "%d,%d"); got != (size{}) {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := sizeTold([]byte("m=video 0 RTP/AVP 26\na=x-dimensions:8,9\n"), ""); got != (size{8, 9}) {
		t.Errorf("%v of a medium without a name", got)
	}
}
