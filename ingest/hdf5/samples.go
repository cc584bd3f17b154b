package hdf5

import (
	"driftscope/ingest/tiff"
)

// The type classes.
const (
	fixedPoint    = 0
	floatingPoint = 1
)

// classes names all type classes, for errors.
var classes = []string{"fixed point", "floating point", "time", "string", "bits", "opaque", "compound", "reference", "enumeration (as truth values are)", "of variable length", "array"}

// readType reads the type of the samples.
func (d *dataset) readType(c *cursor) error {
	class := int(c.number(1)) & 0x0f
	bits := c.number(3)
	size := c.number(4)
	if class > floatingPoint {
		name := "unknown"
		if class < len(classes) {
			name = classes[class]
		}
		return tiff.Unread("its samples have class %d, %s, but whole numbers or floats are expected: write the dataset with such numbers", class, name)
	}
	offset, precision := c.number(2), c.number(2)
	d.samples = tiff.Samples{Kind: tiff.Unsigned, Bytes: int(size), Big: bits&1 != 0}
	switch {
	case class == floatingPoint:
		d.samples.Kind = tiff.Floating
	case bits&0x08 != 0:
		d.samples.Kind = tiff.Signed
	}
	known := size == 4 || class == fixedPoint && (size == 1 || size == 2) || class == floatingPoint && size == 8
	if !known || offset != 0 || precision != 8*size || class == floatingPoint && bits&0x40 != 0 {
		return tiff.Unread("its samples are %s of %d bits in %d bytes, whole numbers of 8, 16 or 32 bits or floats of 32 or 64 expected: write the dataset with such numbers", classes[class], precision, size)
	}
	return nil
}

// fill returns the fill value as one sample in the picture's format.
func (d *dataset) fill() []byte {
	out := make([]byte, d.samples.Depth().Bytes())
	if d.filled != nil {
		d.samples.Convert(out, d.filled, tiff.Run{N: 1})
	}
	return out
}
