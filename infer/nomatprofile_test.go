//go:build !matprofile

package infer_test

// leakedMats counts nothing here: gocv counts Mats only under -tags matprofile.
func leakedMats() int { return 0 }
