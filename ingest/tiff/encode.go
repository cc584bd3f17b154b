package tiff

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Encode writes img as a TIFF of one page: little-endian, uncompressed, one strip. It does not close w.
func Encode(w io.Writer, img *Image) error {
	if err := img.check(); err != nil {
		return err
	}
	if _, err := w.Write(append(header(headerBytes), img.directory(headerBytes)...)); err != nil {
		return err
	}
	_, err := w.Write(img.Pix)
	return err
}

func (img *Image) check() error {
	if img.Channels != 1 && img.Channels != 3 {
		return fmt.Errorf("the image has %d channels, 1 or 3 expected: split it", img.Channels)
	}
	if img.Depth < Uint8 || img.Depth > Float32 {
		return fmt.Errorf("the image has depth %d, %d to %d expected: choose Uint8, Uint16 or Float32", img.Depth, Uint8, Float32)
	}
	if err := CheckSize(img.Width, img.Height, img.Channels*img.Depth.Bytes()); err != nil {
		return err
	}
	if want := img.Width * img.Height * img.Channels * img.Depth.Bytes(); len(img.Pix) != want {
		return fmt.Errorf("the image has %d bytes, %d expected for %dx%d pixels: fill Pix", len(img.Pix), want, img.Width, img.Height)
	}
	return nil
}

// Sizes of the parts of a file other than pixels.
const (
	headerBytes = 8 // of a file
	entries     = 11
	linkAt      = 2 + 12*entries // offset in a directory of the next directory's offset
)

// header returns the start of a file whose first directory is at byte first. 0 means that there is no directory.
func header(first uint32) []byte {
	return binary.LittleEndian.AppendUint32([]byte{'I', 'I', 42, 0}, first)
}

// directory returns the page's directory, to be written at byte at of a file, and the values that do not fit into its entries. It links to no next directory.
// The pixels must follow.
func (img *Image) directory(at uint32) []byte {
	const short, long = 3, 4
	le := binary.LittleEndian
	end := at + linkAt + 4
	format, photometric := uint32(formatUint), uint32(blackIsZero)
	if img.Depth == Float32 {
		format = formatFloat
	}
	bits, channels := uint32(8*img.Depth.Bytes()), uint32(img.Channels)
	pixels := end
	var extra []byte
	if img.Channels == 3 {
		photometric = rgb
		for _, v := range []uint32{bits, format} {
			for range channels {
				extra = le.AppendUint16(extra, uint16(v))
			}
		}
		bits, format = end, end+6
		pixels += uint32(len(extra))
	}
	b := le.AppendUint16(make([]byte, 0, linkAt+4+len(extra)), entries)
	for _, e := range []struct {
		tag, kind    uint16
		count, value uint32
	}{
		{tagWidth, long, 1, uint32(img.Width)},
		{tagHeight, long, 1, uint32(img.Height)},
		{tagBitsPerSample, short, channels, bits},
		{tagCompression, short, 1, uncompressed},
		{tagPhotometric, short, 1, photometric},
		{tagStripOffsets, long, 1, pixels},
		{tagSamplesPerPixel, short, 1, channels},
		{tagRowsPerStrip, long, 1, uint32(img.Height)},
		{tagStripByteCounts, long, 1, uint32(len(img.Pix))},
		{tagPlanar, short, 1, 1},
		{tagSampleFormat, short, channels, format},
	} {
		b = le.AppendUint16(b, e.tag)
		b = le.AppendUint16(b, e.kind)
		b = le.AppendUint32(b, e.count)
		b = le.AppendUint32(b, e.value)
	}
	b = le.AppendUint32(b, 0)
	return append(b, extra...)
}
