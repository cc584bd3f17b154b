package tiff

import "fmt"

// MaxBytes bounds a picture's pixels as they are decoded, width times height times channels times bytes. Several are in memory at once
// on a frame's way, one of them with four bytes a value, and all together stay below 1 GiB.
const MaxBytes = 64 << 20

// CheckSize refuses a picture, of so many bytes a pixel, that is empty or has more than MaxBytes, before memory is taken for it.
func CheckSize[T int | uint64](width, height, pixelBytes T) error {
	if width < 1 || height < 1 || pixelBytes < 1 || width > MaxBytes || height > MaxBytes/width || pixelBytes > MaxBytes/width/height {
		return fmt.Errorf("a picture of %dx%d pixels of %d bytes, at least 1x1 and at most %d MiB expected: crop it or bin it", width, height, pixelBytes, MaxBytes>>20)
	}
	return nil
}
