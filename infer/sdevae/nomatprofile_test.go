//go:build !matprofile

package sdevae

// leakedMats counts nothing here: gocv counts Mats only under -tags matprofile.
func leakedMats() int { return 0 }
