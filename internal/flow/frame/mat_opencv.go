//go:build cgo

package frame

import "gocv.io/x/gocv"

// Mat is OpenCV's picture: pixels row after row, with the channels of a pixel side by side. As in OpenCV a copied Mat shares the pixels; close only one of the
// copies.
type Mat = gocv.Mat

// MatType is OpenCV's number for a depth and a number of channels.
type MatType = gocv.MatType

// Pixel types of sources and their depths (the low three bits), with OpenCV's names.
const (
	MatTypeCV8U    = gocv.MatTypeCV8U
	MatTypeCV16U   = gocv.MatTypeCV16U
	MatTypeCV32F   = gocv.MatTypeCV32F
	MatTypeCV8UC1  = gocv.MatTypeCV8UC1
	MatTypeCV8UC3  = gocv.MatTypeCV8UC3
	MatTypeCV16UC1 = gocv.MatTypeCV16UC1
	MatTypeCV16UC3 = gocv.MatTypeCV16UC3
	MatTypeCV32FC1 = gocv.MatTypeCV32FC1
	MatTypeCV32FC3 = gocv.MatTypeCV32FC3
	MatTypeCV64F   = gocv.MatTypeCV64F // no source delivers it
)

// NewMat makes a Mat without pixels, which the caller owns.
func NewMat() Mat { return gocv.NewMat() }

// NewMatWithSize makes a Mat with undefined pixels; the caller owns it.
func NewMatWithSize(rows, cols int, kind MatType) Mat { return gocv.NewMatWithSize(rows, cols, kind) }
