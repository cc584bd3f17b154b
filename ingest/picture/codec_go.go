//go:build !cgo

package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"driftscope/internal/flow/frame"
)

// Decode returns the same pixels as OpenCV for a PNG or BMP, bit for bit. It rejects JPEG, because JPEG decoders round differently.
func Decode(data []byte) (frame.Mat, error) {
	mat, _, err := decodeListening(data)
	return mat, err
}

// decodeListening is Decode; said is always empty.
func decodeListening(data []byte) (mat frame.Mat, said string, err error) {
	format, err := checkPicture(data)
	if err != nil {
		return frame.Mat{}, "", err
	}
	if format == "jpeg" {
		return frame.Mat{}, "", fmt.Errorf("the file is a JPEG: %w", ErrNoDecoder)
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return frame.Mat{}, "", fmt.Errorf("the %s is damaged (%w): copy it again", strings.ToUpper(format), err)
	}
	mat, err = toMat(decoded, format == "bmp", format == "png" && data[pngColour] == pngGrey)
	return mat, "", err
}

// The offset of the colour type in a PNG, and its value for grey without alpha. Go decodes such a picture to colours if it has a transparent shade.
const (
	pngColour = 25
	pngGrey   = 0
)

// toMat copies a picture to a new Mat, which the caller owns. A grey picture has one channel; alpha is dropped. bitmap marks a BMP. OpenCV turns a BMP's
// palette into colours unless all entries are grey, and a PNG's palette always.
func toMat(decoded image.Image, bitmap, grey bool) (frame.Mat, error) {
	size := decoded.Bounds().Size()
	switch p := decoded.(type) {
	case *image.Gray:
		return bytesOf(size, frame.MatTypeCV8UC1, p.Pix, 1, 0), nil
	case *image.Gray16:
		return wordsOf(size, frame.MatTypeCV16UC1, p.Pix, 1, 0), nil
	case *image.RGBA: // without alpha
		return bytesOf(size, frame.MatTypeCV8UC3, p.Pix, 4, 2, 1, 0), nil
	case *image.NRGBA:
		if grey {
			return bytesOf(size, frame.MatTypeCV8UC1, p.Pix, 4, 0), nil
		}
		return bytesOf(size, frame.MatTypeCV8UC3, p.Pix, 4, 2, 1, 0), nil
	case *image.RGBA64:
		return wordsOf(size, frame.MatTypeCV16UC3, p.Pix, 4, 2, 1, 0), nil
	case *image.NRGBA64:
		if grey {
			return wordsOf(size, frame.MatTypeCV16UC1, p.Pix, 4, 0), nil
		}
		return wordsOf(size, frame.MatTypeCV16UC3, p.Pix, 4, 2, 1, 0), nil
	case *image.Paletted:
		return fromPalette(size, p, !bitmap), nil
	}
	return frame.Mat{}, fmt.Errorf("the picture has pixels of %v, grey, colours or a palette expected: convert it", decoded.ColorModel())
}

// bytesOf copies 8-bit values of every pixel, at the given offsets in a pixel and in their order.
func bytesOf(size image.Point, kind frame.MatType, pix []byte, step int, places ...int) frame.Mat {
	mat := frame.NewMatWithSize(size.Y, size.X, kind)
	to, _ := mat.DataPtrUint8() // 8-bit Mats always have it
	for i := range size.X * size.Y {
		for c, place := range places {
			to[i*len(places)+c] = pix[i*step+place]
		}
	}
	return mat
}

// wordsOf is bytesOf for 16-bit values, high byte first.
func wordsOf(size image.Point, kind frame.MatType, pix []byte, step int, places ...int) frame.Mat {
	mat := frame.NewMatWithSize(size.Y, size.X, kind)
	to, _ := mat.DataPtrUint16() // 16-bit Mats always have it
	for i := range size.X * size.Y {
		for c, place := range places {
			at := 2 * (i*step + place)
			to[i*len(places)+c] = uint16(pix[at])<<8 | uint16(pix[at+1])
		}
	}
	return mat
}

// fromPalette copies the palette's colours, NRGBA or RGBA, without alpha. If all are grey and coloured is false, the Mat has one channel.
func fromPalette(size image.Point, p *image.Paletted, coloured bool) frame.Mat {
	var colours [256][3]byte
	for i, c := range p.Palette {
		switch c := c.(type) {
		case color.NRGBA:
			colours[i], coloured = [3]byte{c.B, c.G, c.R}, true
		case color.RGBA:
			colours[i] = [3]byte{c.B, c.G, c.R}
			coloured = coloured || c.R != c.G || c.G != c.B
		}
	}
	kind, channels := frame.MatTypeCV8UC1, 1
	if coloured {
		kind, channels = frame.MatTypeCV8UC3, 3
	}
	mat := frame.NewMatWithSize(size.Y, size.X, kind)
	to, _ := mat.DataPtrUint8()
	for i := range size.X * size.Y {
		copy(to[i*channels:(i+1)*channels], colours[p.Pix[i]][:channels])
	}
	return mat
}

// EncodePNG encodes a Mat of 8 or 16 bits as PNG into dst's memory. The pixels equal OpenCV's, the bytes do not.
func EncodePNG(dst []byte, mat *frame.Mat) ([]byte, error) {
	size := image.Rect(0, 0, mat.Cols(), mat.Rows())
	from, err := mat.DataPtrUint8()
	if err != nil {
		return nil, err
	}
	var shown image.Image
	switch mat.Type() {
	case frame.MatTypeCV8UC1:
		shown = &image.Gray{Pix: from, Stride: size.Dx(), Rect: size}
	case frame.MatTypeCV8UC3:
		p := image.NewNRGBA(size)
		for i := range len(from) / 3 {
			p.Pix[4*i], p.Pix[4*i+1], p.Pix[4*i+2], p.Pix[4*i+3] = from[3*i+2], from[3*i+1], from[3*i], 255
		}
		shown = p
	case frame.MatTypeCV16UC1, frame.MatTypeCV16UC3:
		words, err := mat.DataPtrUint16()
		if err != nil {
			return nil, err
		}
		shown = deep(words, size, mat.Channels())
	default:
		return nil, fmt.Errorf("the frame has %s, 8 or 16 bits expected", TypeName(int(mat.Type())))
	}
	b := bytes.NewBuffer(dst[:0])
	fast := png.Encoder{CompressionLevel: png.BestSpeed}
	err = fast.Encode(b, shown)
	return b.Bytes(), err
}

// deep is a 16-bit picture, grey or coloured.
func deep(words []uint16, size image.Rectangle, channels int) image.Image {
	if channels == 1 {
		p := image.NewGray16(size)
		for i, v := range words {
			p.Pix[2*i], p.Pix[2*i+1] = byte(v>>8), byte(v)
		}
		return p
	}
	p := image.NewNRGBA64(size)
	for i := range len(words) / 3 {
		for c := range 3 {
			v := words[3*i+2-c]
			p.Pix[8*i+2*c], p.Pix[8*i+2*c+1] = byte(v>>8), byte(v)
		}
		p.Pix[8*i+6], p.Pix[8*i+7] = 255, 255
	}
	return p
}
