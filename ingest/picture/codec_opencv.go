//go:build cgo

package picture

import (
	"fmt"
	"strings"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
)

// Decode checks the header before it passes the data to OpenCV.
func Decode(data []byte) (gocv.Mat, error) {
	mat, _, err := decodeListening(data)
	return mat, err
}

// decodeListening is like Decode, and also returns the first line that the library printed while decoding.
func decodeListening(data []byte) (mat gocv.Mat, said string, err error) {
	format, err := checkPicture(data)
	if err != nil {
		return gocv.Mat{}, "", err
	}
	said = Listened(func() { mat, err = gocv.IMDecode(data, gocv.IMReadUnchanged) })
	if err != nil {
		return gocv.Mat{}, "", err
	}
	if mat.Empty() {
		mat.Close()
		return gocv.Mat{}, "", fmt.Errorf("the %s is damaged%s: copy it again", strings.ToUpper(format), Bracketed(said))
	}
	mat, err = DropAlpha(mat)
	return mat, said, err
}

// DropAlpha takes ownership of mat and returns it with one or three channels.
func DropAlpha(mat gocv.Mat) (gocv.Mat, error) {
	depth := mat.Type() & 7
	if depth != gocv.MatTypeCV8U && depth != gocv.MatTypeCV16U && depth != gocv.MatTypeCV32F {
		defer mat.Close()
		return gocv.Mat{}, fmt.Errorf("the picture has %s, 8 or 16 bits unsigned or float32 expected: convert it", TypeName(int(mat.Type())))
	}
	switch mat.Channels() {
	case 1, 3:
		return mat, nil
	case 4:
		defer mat.Close()
		opaque := gocv.NewMat()
		gocv.CvtColor(mat, &opaque, gocv.ColorBGRAToBGR)
		return opaque, nil
	}
	defer mat.Close()
	return gocv.Mat{}, fmt.Errorf("the picture has %d channels, 1, 3 or 4 expected: convert it", mat.Channels())
}

// EncodePNG encodes a Mat of 8 or 16 bits as PNG into dst's memory.
func EncodePNG(dst []byte, mat *frame.Mat) ([]byte, error) {
	encoded, err := gocv.IMEncode(gocv.PNGFileExt, *mat)
	if err != nil {
		return nil, err
	}
	defer encoded.Close()
	return append(dst[:0], encoded.GetBytes()...), nil
}
