//go:build cgo

package field

import "gocv.io/x/gocv"

// grey is a picture in colours as one in grey, of the same depth. The caller owns it.
func grey(m *gocv.Mat) gocv.Mat {
	to := gocv.NewMat()
	gocv.CvtColor(*m, &to, gocv.ColorBGRToGray)
	return to
}

// single is a picture's values in float32. The caller owns it.
func single(m *gocv.Mat) gocv.Mat {
	to := gocv.NewMat()
	m.ConvertTo(&to, gocv.MatTypeCV32F)
	return to
}

// finite says that every value of a float picture is a finite number.
func finite(m *gocv.Mat) bool { return gocv.CheckRange(*m) }
