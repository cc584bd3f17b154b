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

// Bounds on a picture.
const (
	MaxSide         = 16384
	maxPictureBytes = 2 * tiff.MaxBytes // of the file
)

// ErrNoDecoder reports that this build cannot decode the picture exactly as other builds do.
var ErrNoDecoder = errors.New("without OpenCV this build cannot decode it to the same pixels as other builds: record TIFF or PNG, or use a build with OpenCV (docs/howto/desk.md)")

// Reader reads PNG, JPEG and BMP files, keeps 16 bits, and reuses its memory.
type Reader struct {
	file bytes.Buffer
	Said string // line that the library printed about the last picture read
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

// checkPicture checks the data and returns their format, before OpenCV sees them.
func checkPicture(data []byte) (format string, err error) {
	header, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("it is not a readable PNG, JPEG or BMP (%w): copy or convert it again", err)
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
		return "", fmt.Errorf("the end of the %s is missing: copy it again", strings.ToUpper(format))
	}
	return format, nil
}

// CheckSize bounds a picture by its size and bytes per pixel.
func CheckSize(width, height, pixelBytes int) error {
	if width > MaxSide || height > MaxSide {
		return fmt.Errorf("the picture has %dx%d pixels, at most %d per side expected: crop it or bin it", width, height, MaxSide)
	}
	return tiff.CheckSize(width, height, pixelBytes)
}

// decodedBytes returns the bytes per pixel after OpenCV's decoder, alpha included. OpenCV turns palettes into colours.
func decodedBytes(model color.Model) int {
	switch model {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.YCbCrModel, color.RGBAModel: // RGBAModel is package png's model for pixels without alpha
		return 3
	case color.RGBA64Model:
		return 6
	case color.NRGBA64Model:
		return 8
	}
	return 4
}

// endsWhole reports whether the data are complete. It follows a JPEG to its end marker, looks for the last chunk near the end of a PNG, and compares the size
// of a BMP with its valid header. Without this check the libraries would fill missing parts with grey, or print an error at each retry of a growing picture.
func endsWhole(data []byte, format string) bool {
	const trailer = 4096 // room for bytes that some cameras write after the end
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
	return true // OpenCV decides, because it knows more variants of the formats
}

// endsJPEG looks for the end marker. It skips compressed data, in which FF precedes 0 or a restart marker (ITU-T T.81, B.1.1), and segments, because a
// thumbnail in a segment has its own end marker.
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
