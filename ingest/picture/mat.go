package picture

import (
	"errors"
	"fmt"
	"slices"

	"driftscope/ingest/tiff"
	"driftscope/internal/flow/frame"
)

// MatType returns OpenCV's type for a page's pixels.
func MatType(page *tiff.Image) frame.MatType {
	channels := frame.MatType((page.Channels - 1) << 3)
	switch page.Depth {
	case tiff.Uint8:
		return frame.MatTypeCV8U + channels
	case tiff.Uint16:
		return frame.MatTypeCV16U + channels
	}
	return frame.MatTypeCV32F + channels
}

// ToMat copies a page to a new Mat, which the caller owns, and swaps red and blue.
func ToMat(page *tiff.Image) (frame.Mat, error) {
	mat := frame.NewMatWithSize(page.Height, page.Width, MatType(page))
	dst, err := mat.DataPtrUint8()
	if err != nil || len(dst) != len(page.Pix) {
		mat.Close()
		return frame.Mat{}, fmt.Errorf("OpenCV allocated %d bytes for a page of %d: free memory", len(dst), len(page.Pix))
	}
	if page.Channels == 1 {
		copy(dst, page.Pix)
		return mat, nil
	}
	swapRedBlue(dst, page.Pix, page.Depth.Bytes())
	return mat, nil
}

// swapRedBlue copies pixels of three samples of size bytes each, and swaps the first and the last sample.
func swapRedBlue(dst, src []byte, size int) {
	for pixel := 0; pixel < len(dst); pixel += 3 * size {
		copy(dst[pixel:pixel+size], src[pixel+2*size:])
		copy(dst[pixel+size:pixel+2*size], src[pixel+size:])
		copy(dst[pixel+2*size:pixel+3*size], src[pixel:])
	}
}

// ToPage copies a frame's pixels to dst and swaps red and blue. It reuses the memory of dst.
func ToPage(dst *tiff.Image, mat *frame.Mat) error {
	if mat.Ptr() == nil || mat.Empty() || !mat.IsContinuous() || len(mat.Size()) != 2 {
		return errors.New("the frame has no pixels, or gaps between its rows: this is an error of its source")
	}
	switch kind := mat.Type(); kind {
	case frame.MatTypeCV8UC1, frame.MatTypeCV8UC3:
		dst.Depth = tiff.Uint8
	case frame.MatTypeCV16UC1, frame.MatTypeCV16UC3:
		dst.Depth = tiff.Uint16
	case frame.MatTypeCV32FC1, frame.MatTypeCV32FC3:
		dst.Depth = tiff.Float32
	default:
		return fmt.Errorf("the frame has %s, 8 or 16 bits unsigned or float32 of 1 or 3 channels expected: convert the source's pictures", TypeName(int(kind)))
	}
	src, err := mat.DataPtrUint8()
	if err != nil {
		return err
	}
	dst.Width, dst.Height, dst.Channels = mat.Cols(), mat.Rows(), mat.Channels()
	if dst.Channels == 1 {
		dst.Pix = append(dst.Pix[:0], src...)
		return nil
	}
	dst.Pix = slices.Grow(dst.Pix[:0], len(src))[:len(src)]
	swapRedBlue(dst.Pix, src, dst.Depth.Bytes())
	return nil
}

// TypeName returns a readable name of a Mat type.
func TypeName(kind int) string {
	depth := [8]string{"8-bit", "signed 8-bit", "16-bit", "signed 16-bit", "signed 32-bit", "float32", "float64", "float16"}[kind&7]
	return fmt.Sprintf("%s pixels of %d channels", depth, kind>>3+1)
}

// PixelBytes returns the bytes of a pixel of an OpenCV type, or 0 for a type that no source returns.
func PixelBytes(kind uint32) int {
	channels := int(kind>>3) + 1
	if channels != 1 && channels != 3 {
		return 0
	}
	switch frame.MatType(kind & 7) {
	case frame.MatTypeCV8U:
		return channels
	case frame.MatTypeCV16U:
		return 2 * channels
	case frame.MatTypeCV32F:
		return 4 * channels
	}
	return 0
}
