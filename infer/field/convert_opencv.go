//go:build cgo

package field

import "gocv.io/x/gocv"

// grey converts a colour picture to grey of the same depth. The caller owns the result.
func grey(m *gocv.Mat) gocv.Mat {
	to := gocv.NewMat()
	gocv.CvtColor(*m, &to, gocv.ColorBGRToGray)
	return to
}

// single converts a picture to float32. The caller owns the result.
func single(m *gocv.Mat) gocv.Mat {
	to := gocv.NewMat()
	m.ConvertTo(&to, gocv.MatTypeCV32F)
	return to
}

// finite reports whether every value of a float picture is finite.
func finite(m *gocv.Mat) bool { return gocv.CheckRange(*m) }
