package fits

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"driftscope/ingest/tiff"
)

// MaxSide bounds a picture's rows and columns. tiff.MaxBytes bounds its bytes.
const MaxSide = 16384

// Cube is an open file. Not safe for concurrent use.
type Cube struct {
	Width, Height int
	Planes        int // 1 for a picture

	header      header
	file        io.ReaderAt
	data        int64 // offset of the first plane
	bitpix      int
	zero, scale float64 // a pixel is zero + scale · stored value
	raw         []byte  // the stored bytes of one plane
}

// Open reads the header of a file of the given size. The file must contain all the planes that the header announces.
func Open(file io.ReaderAt, size int64) (*Cube, error) {
	h, data, err := readHeader(file)
	if err != nil {
		return nil, err
	}
	c := &Cube{header: h, file: file, data: data}
	if err := c.setPixels(); err != nil {
		return nil, err
	}
	if err := c.setAxes(); err != nil {
		return nil, err
	}
	if held := (size - data) / c.planeBytes(); int64(c.Planes) > held {
		return nil, fmt.Errorf("the header promises %d pictures of %dx%d pixels, but the file has only %d: it is torn, copy it again", c.Planes, c.Width, c.Height, max(held, 0))
	}
	c.raw = make([]byte, c.planeBytes())
	return c, nil
}

// setPixels reads the pixel format.
func (c *Cube) setPixels() (err error) {
	if c.header["SIMPLE"] != "T" {
		return fmt.Errorf("SIMPLE is %q, T expected: the file does not follow the standard, export it again", c.header["SIMPLE"])
	}
	if c.bitpix, err = c.header.integer("BITPIX"); err != nil {
		return err
	}
	switch c.bitpix {
	case 8, 16, 32, -32, -64:
	default:
		return tiff.Unread("BITPIX is %d, one of 8, 16, 32, -32 and -64 expected: export 16-bit integers or 32-bit floats", c.bitpix)
	}
	if c.zero, err = c.header.numberOr("BZERO", 0); err != nil {
		return err
	}
	if c.scale, err = c.header.numberOr("BSCALE", 1); err != nil {
		return err
	}
	if c.scale == 0 {
		return errors.New("BSCALE is 0, which would make all pixels equal: export the file again")
	}
	return nil
}

// setAxes reads the numbers of pixels and planes.
func (c *Cube) setAxes() error {
	n, err := c.header.integer("NAXIS")
	if err != nil {
		return err
	}
	if n != 2 && n != 3 {
		return tiff.Unread("NAXIS is %d, 2 (a picture) or 3 (a cube, time last) expected: export the pictures as the primary array, without compression", n)
	}
	axes := [3]int{2: 1}
	for i := range n {
		if axes[i], err = c.header.integer(fmt.Sprintf("NAXIS%d", i+1)); err != nil {
			return err
		}
	}
	c.Width, c.Height, c.Planes = axes[0], axes[1], axes[2]
	if c.Width < 1 || c.Height < 1 || c.Width > MaxSide || c.Height > MaxSide {
		return tiff.Unread("pictures have %dx%d pixels, 1 to %d per side expected: crop or bin them", c.Width, c.Height, MaxSide)
	}
	if err := tiff.CheckSize(c.Width, c.Height, c.Depth().Bytes()); err != nil {
		return err
	}
	if c.Planes < 1 {
		return fmt.Errorf("NAXIS3 is %d, at least one picture expected: export the file again", c.Planes)
	}
	return nil
}

func (c *Cube) planeBytes() int64 {
	return int64(c.Width) * int64(c.Height) * int64(max(c.bitpix, -c.bitpix)/8)
}

// Depth returns Uint8 or Uint16 if the file contains such counts, either directly or as signed numbers with a BZERO of 32768. Everything else becomes Float32,
// rounded to 24 bits: signed or scaled counts, and numbers of 32 and 64 bits.
func (c *Cube) Depth() tiff.Depth {
	switch {
	case c.bitpix == 8 && c.zero == 0 && c.scale == 1:
		return tiff.Uint8
	case c.bitpix == 16 && c.zero == 1<<15 && c.scale == 1:
		return tiff.Uint16
	}
	return tiff.Float32
}

// Number returns the number of a header keyword, if it exists and is finite.
func (c *Cube) Number(keyword string) (v float64, found bool) {
	v, found, err := c.header.number(keyword)
	return v, found && err == nil
}

// Read copies a plane, counted from 0, into dst and reuses its memory.
func (c *Cube) Read(dst *tiff.Image, plane int) error {
	if _, err := c.file.ReadAt(c.raw, c.data+int64(plane)*c.planeBytes()); err != nil {
		return fmt.Errorf("picture %d of %d could not be read (%w): copy the file again", plane+1, c.Planes, err)
	}
	dst.Width, dst.Height, dst.Channels, dst.Depth = c.Width, c.Height, 1, c.Depth()
	size := c.Width * c.Height * dst.Depth.Bytes()
	if cap(dst.Pix) < size {
		dst.Pix = make([]byte, size)
	}
	dst.Pix = dst.Pix[:size]
	switch dst.Depth {
	case tiff.Uint8:
		copy(dst.Pix, c.raw)
	case tiff.Uint16:
		for i := 0; i < size; i += 2 {
			binary.LittleEndian.PutUint16(dst.Pix[i:], binary.BigEndian.Uint16(c.raw[i:])^1<<15)
		}
	case tiff.Float32:
		for i := range c.Width * c.Height {
			binary.LittleEndian.PutUint32(dst.Pix[4*i:], math.Float32bits(float32(c.zero+c.scale*c.written(i))))
		}
	}
	return nil
}

// written returns the stored value of pixel i. Files are big-endian.
func (c *Cube) written(i int) float64 {
	switch c.bitpix {
	case 8:
		return float64(c.raw[i])
	case 16:
		return float64(int16(binary.BigEndian.Uint16(c.raw[2*i:])))
	case 32:
		return float64(int32(binary.BigEndian.Uint32(c.raw[4*i:])))
	case -32:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(c.raw[4*i:])))
	}
	return math.Float64frombits(binary.BigEndian.Uint64(c.raw[8*i:]))
}
