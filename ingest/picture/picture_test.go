//go:build cgo

package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"reflect"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"gocv.io/x/gocv"
	"golang.org/x/image/bmp"
)

// withThumbnail inserts a JPEG into its own header, like a camera's thumbnail.
func withThumbnail(photo []byte) []byte {
	header := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(2+len(photo)))
	return slices.Concat(header, photo, photo[2:])
}

func encodeBMP(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bmp.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// one fills a picture with one colour.
func one(img interface {
	image.Image
	Set(x, y int, c color.Color)
}, c color.Color) image.Image {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			img.Set(x, y, c)
		}
	}
	return img
}

func TestPicturePixels(t *testing.T) {
	area := image.Rect(0, 0, 4, 3)
	orange := color.NRGBA{200, 100, 50, 255}
	for _, c := range []struct {
		name string
		data []byte
		kind gocv.MatType
		want []float64
	}{
		{"8-bit grey PNG", ingesttest.EncodePNG(t, ingesttest.Grey(4, 3, 77)), gocv.MatTypeCV8UC1, []float64{77}},
		{"16-bit grey PNG", ingesttest.EncodePNG(t, one(image.NewGray16(area), color.Gray16{40000})), gocv.MatTypeCV16UC1, []float64{40000}},
		{"RGB PNG", ingesttest.EncodePNG(t, one(image.NewNRGBA(area), orange)), gocv.MatTypeCV8UC3, []float64{50, 100, 200}},
		{"RGBA PNG", ingesttest.EncodePNG(t, one(image.NewNRGBA(area), color.NRGBA{200, 100, 50, 128})), gocv.MatTypeCV8UC3, []float64{50, 100, 200}},
		{"16-bit RGB PNG", ingesttest.EncodePNG(t, one(image.NewNRGBA64(area), color.NRGBA64{60000, 300, 7, 65535})), gocv.MatTypeCV16UC3, []float64{7, 300, 60000}},
		{"palette PNG", ingesttest.EncodePNG(t, one(image.NewPaletted(area, color.Palette{color.Black, orange}), orange)), gocv.MatTypeCV8UC3, []float64{50, 100, 200}},
		{"grey JPEG", ingesttest.EncodeJPEG(t), gocv.MatTypeCV8UC1, []float64{100}},
		{"BMP", encodeBMP(t, one(image.NewRGBA(area), orange)), gocv.MatTypeCV8UC3, []float64{50, 100, 200}},
		{"JPEG with a thumbnail and a trailer", append(withThumbnail(ingesttest.EncodeJPEG(t)), "made by a camera"...), gocv.MatTypeCV8UC1, []float64{100}},
	} {
		mat, err := Decode(c.data)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := ingesttest.Corner(&mat)
		if mat.Type() != c.kind || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v of type %v, %v of type %v expected", c.name, got, mat.Type(), c.want, c.kind)
		}
		mat.Close()
	}
}

func TestPictureRefused(t *testing.T) {
	whole, photo, unsized := ingesttest.EncodePNG(t, ingesttest.Grey(64, 64, 9)), ingesttest.EncodeJPEG(t), encodeBMP(t, ingesttest.Grey(64, 64, 9))
	clear(unsized[2:6])
	var cartoon bytes.Buffer
	if err := gif.Encode(&cartoon, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black}), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "not a readable PNG"},
		{"text", []byte("hello"), "not a readable PNG"},
		{"torn PNG", whole[:len(whole)-30], "the end of the"},
		{"torn JPEG", photo[:len(photo)-2], "the end of the"},
		{"torn JPEG with a whole one in its header", withThumbnail(photo)[:2*len(photo)], "the end of the"},
		{"JPEG torn in its header", withThumbnail(photo)[:20], ""},
		{"BMP without its length", unsized[:len(unsized)-9], "the end of the"},
		{"huge PNG", ingesttest.HugePNG(t), ""},
		{"GIF", cartoon.Bytes(), "damaged"},
	} {
		mat, err := Decode(c.data)
		if err == nil {
			mat.Close()
			t.Errorf("%s was read", c.name)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %q expected", c.name, err, c.want)
		}
	}
	for _, size := range [][3]int{{40000, 40000, 1}, {16385, 1, 1}, {16384, 16384, 1}, {0, 4, 1}, {4, -1, 1}, {8192, 8193, 1}, {8192, 8192, 2}, {1 << 62, 1 << 62, 6}} {
		if err := CheckSize(size[0], size[1], size[2]); err == nil {
			t.Errorf("%v: width, height and bytes a pixel were accepted", size)
		}
	}
	if err := CheckSize(8192, 8192, 1); err != nil {
		t.Error(err)
	}
}

// FuzzPicture: the checks must protect OpenCV from any bytes, because an exception would end the process.
func FuzzPicture(f *testing.F) {
	f.Add(ingesttest.EncodePNG(f, ingesttest.Grey(4, 3, 77)))
	f.Add(ingesttest.EncodePNG(f, one(image.NewNRGBA64(image.Rect(0, 0, 4, 3)), color.NRGBA64{1, 2, 3, 4})))
	f.Add(ingesttest.EncodePNG(f, one(image.NewPaletted(image.Rect(0, 0, 4, 3), color.Palette{color.Black, color.Transparent}), color.Black)))
	f.Add(ingesttest.EncodeJPEG(f))
	f.Add(encodeBMP(f, ingesttest.Grey(4, 3, 77)))
	f.Add(encodeBMP(f, one(image.NewRGBA(image.Rect(0, 0, 4, 3)), color.White)))
	f.Add(ingesttest.HugePNG(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		mat, err := Decode(data)
		if err != nil {
			return
		}
		defer mat.Close()
		if c := mat.Channels(); mat.Empty() || c != 1 && c != 3 {
			t.Fatalf("a Mat of %dx%d with %d channels", mat.Cols(), mat.Rows(), c)
		}
	})
}
