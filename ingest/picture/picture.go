package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // header
	_ "image/png"  // header
	"io"
	"strings"

	_ "golang.org/x/image/bmp" // header

	"driftscope/ingest/format"
	"driftscope/ingest/tiff"
	"driftscope/internal/flow/frame"
)

// The bounds on a picture.
const (
	MaxSide         = 16384
	maxPictureBytes = 2 * tiff.MaxBytes // of its file
)

// ErrNoDecoder says that this build cannot read a picture as every other build does.
var ErrNoDecoder = errors.New("this build is without OpenCV and does not decode it to the same pixels: record TIFF or PNG, or use a build with OpenCV (docs/howto/desk.md)")

// Reader reads PNG, JPEG and BMP files, keeps 16 bits, and reuses its memory.
type Reader struct {
	file bytes.Buffer
	Said string // by the library, of the picture that was read last
}

// Read returns the picture at path with one or three channels. The caller owns the Mat.
func (p *Reader) Read(path string) (frame.Mat, error) {
	if err := p.load(path); err != nil {
		return frame.Mat{}, err
	}
	mat, said, err := decodeListening(p.file.Bytes())
	p.Said = said
	if err != nil {
		return frame.Mat{}, fmt.Errorf("%s: %w", path, err)
	}
	return mat, nil
}

func (p *Reader) load(path string) error {
	file, size, err := format.OpenFilled(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if size > maxPictureBytes {
		return fmt.Errorf("%s is %d bytes long, at most %d expected: make it smaller", path, size, maxPictureBytes)
	}
	p.file.Reset()
	p.file.Grow(int(size) + bytes.MinRead)
	_, err = p.file.ReadFrom(io.LimitReader(file, maxPictureBytes))
	return err
}

// checkPicture says of what format the data are, which OpenCV has not seen.
func checkPicture(data []byte) (format string, err error) {
	header, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("not a readable PNG, JPEG or BMP (%w): copy or convert it again", err)
	}
	if err := CheckSize(header.Width, header.Height, decodedBytes(header.ColorModel)); err != nil {
		return "", err
	}
	if format == "png" {
		if err := checkPNG(data, header.Width*header.Height*decodedBytes(header.ColorModel)); err != nil {
			return format, err
		}
	}
	if !endsWhole(data, format) {
		return "", fmt.Errorf("the %s is torn, its end is missing: copy it again", strings.ToUpper(format))
	}
	return format, nil
}

// CheckSize bounds a picture of so many bytes a pixel.
func CheckSize(width, height, pixelBytes int) error {
	if width > MaxSide || height > MaxSide {
		return fmt.Errorf("a picture of %dx%d pixels, at most %d a side expected: crop it or bin it", width, height, MaxSide)
	}
	return tiff.CheckSize(width, height, pixelBytes)
}

// decodedBytes is how many a pixel takes once OpenCV has decoded it, alpha included. It makes colours of palettes.
func decodedBytes(model color.Model) int {
	switch model {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.YCbCrModel, color.RGBAModel: // package png's name for what has no alpha
		return 3
	case color.RGBA64Model:
		return 6
	case color.NRGBA64Model:
		return 8
	}
	return 4
}

// endsWhole follows a JPEG to its end marker, looks for a PNG's last chunk near the end, and compares a BMP with the pixels that its header,
// which was read without an error, has it hold. The libraries fill what is missing with grey, or complain on standard error whenever a
// picture is tried that is still being written.
func endsWhole(data []byte, format string) bool {
	const trailer = 4096 // that some cameras leave behind the end
	switch format {
	case "jpeg":
		return endsJPEG(data)
	case "png":
		return bytes.Contains(data[max(0, len(data)-trailer):], []byte("IEND\xae\x42\x60\x82"))
	case "bmp":
		le := binary.LittleEndian
		width, height, bits := int64(le.Uint32(data[18:])), int64(int32(le.Uint32(data[22:]))), int64(le.Uint16(data[28:]))
		row := (width*bits + 31) / 32 * 4
		return int64(le.Uint32(data[10:]))+row*max(height, -height) <= int64(len(data))
	}
	return true // OpenCV will say: other packages know more formats
}

// endsJPEG passes over the segments and what they compress, where FF is followed by 0 or a restart (ITU-T T.81, B.1.1). A thumbnail in a
// segment has an end of its own.
func endsJPEG(data []byte) bool {
	for {
		i := bytes.IndexByte(data, 0xff)
		if i < 0 || i+1 == len(data) {
			return false
		}
		data = data[i+1:]
		switch marker := data[0]; {
		case marker == 0xd9:
			return true
		case marker <= 0x01 || 0xd0 <= marker && marker <= 0xd8 || marker == 0xff: // no segment
			continue
		case len(data) < 3:
			return false
		}
		length := 1 + int(binary.BigEndian.Uint16(data[1:]))
		data = data[min(length, len(data)):]
	}
}
