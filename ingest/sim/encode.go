package sim

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"

	"driftscope/ingest/tiff"
)

// extension returns the extension of the file type for a depth: 16-bit PNG for Counts, 8-bit PNG for Unit values (1 becomes 255), float32 TIFF for Real values.
func extension(d Depth) string {
	if d == Real {
		return ".tif"
	}
	return ".png"
}

// pictureEncoder writes pictures to files and reuses its memory.
type pictureEncoder struct {
	png    png.Encoder
	buffer *bufio.Writer
	grey   *image.Gray16
	plain  *image.Gray
	colour *image.RGBA
	page   tiff.Image
}

func newPictureEncoder() *pictureEncoder {
	return &pictureEncoder{
		png:    png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: new(onePNGBuffer)},
		buffer: bufio.NewWriterSize(nil, 64<<10),
	}
}

// write writes p to the file path, whose extension matches p's depth.
func (e *pictureEncoder) write(path string, p *Picture) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	e.buffer.Reset(file)
	if err := errors.Join(e.encode(e.buffer, p), e.buffer.Flush(), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (e *pictureEncoder) encode(w io.Writer, p *Picture) error {
	switch {
	case p.Depth == Counts && p.Channels == 1:
		return e.png.Encode(w, e.grey16(p))
	case p.Depth == Unit && p.Channels == 1:
		return e.png.Encode(w, e.grey8(p))
	case p.Depth == Unit && p.Channels == 3:
		return e.png.Encode(w, e.rgb8(p))
	case p.Depth == Real:
		return tiff.Encode(w, e.float32Page(p))
	}
	return fmt.Errorf("no file format can store %d channels of depth %d", p.Channels, p.Depth)
}

func (e *pictureEncoder) grey16(p *Picture) image.Image {
	bounds := image.Rect(0, 0, p.Width, p.Height)
	if e.grey == nil || e.grey.Rect != bounds {
		e.grey = image.NewGray16(bounds)
	}
	for i, v := range p.U16 {
		binary.BigEndian.PutUint16(e.grey.Pix[2*i:], v)
	}
	return e.grey
}

func (e *pictureEncoder) grey8(p *Picture) image.Image {
	bounds := image.Rect(0, 0, p.Width, p.Height)
	if e.plain == nil || e.plain.Rect != bounds {
		e.plain = image.NewGray(bounds)
	}
	for i, v := range p.F32 {
		e.plain.Pix[i] = eightBit(v)
	}
	return e.plain
}

func (e *pictureEncoder) rgb8(p *Picture) image.Image {
	bounds := image.Rect(0, 0, p.Width, p.Height)
	if e.colour == nil || e.colour.Rect != bounds {
		e.colour = image.NewRGBA(bounds)
	}
	for i := range p.Width * p.Height {
		bgr := p.F32[3*i : 3*i+3]
		e.colour.SetRGBA(i%p.Width, i/p.Width, color.RGBA{R: eightBit(bgr[2]), G: eightBit(bgr[1]), B: eightBit(bgr[0]), A: 255})
	}
	return e.colour
}

// float32Page reverses the channels of each pixel: a TIFF stores red, green, blue.
func (e *pictureEncoder) float32Page(p *Picture) *tiff.Image {
	e.page.Width, e.page.Height, e.page.Channels, e.page.Depth = p.Width, p.Height, p.Channels, tiff.Float32
	e.page.Pix = resize(e.page.Pix, 4*p.Values())
	for i := 0; i < p.Values(); i += p.Channels {
		for c := range p.Channels {
			v := p.F32[i+p.Channels-1-c]
			binary.LittleEndian.PutUint32(e.page.Pix[4*(i+c):], math.Float32bits(v))
		}
	}
	return &e.page
}

// eightBit maps [0, 1] to 0 .. 255.
func eightBit(v float32) uint8 { return uint8(math.Round(float64(min(max(v, 0), 1)) * 255)) }

// onePNGBuffer reuses the encoder's buffer for each picture.
type onePNGBuffer struct{ kept *png.EncoderBuffer }

func (b *onePNGBuffer) Get() *png.EncoderBuffer  { return b.kept }
func (b *onePNGBuffer) Put(p *png.EncoderBuffer) { b.kept = p }
