//go:build !matprofile

package main

// leakedMats counts nothing here: gocv counts Mats only under -tags matprofile.
func leakedMats() int { return 0 }
