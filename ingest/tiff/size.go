package tiff

import "fmt"

// MaxBytes bounds a decoded picture: width times height times channels times bytes. A frame needs several such buffers at
// once, one with four bytes per value; together they stay below 1 GiB.
const MaxBytes = 64 << 20

// CheckSize rejects an empty picture, or one above MaxBytes, before memory is allocated. pixelBytes is the bytes per pixel.
func CheckSize[T int | uint64](width, height, pixelBytes T) error {
	if width < 1 || height < 1 || pixelBytes < 1 || width > MaxBytes || height > MaxBytes/width || pixelBytes > MaxBytes/width/height {
		return fmt.Errorf("the picture has %dx%d pixels of %d bytes, at least 1x1 and at most %d MiB expected: crop it or bin it", width, height, pixelBytes, MaxBytes>>20)
	}
	return nil
}
