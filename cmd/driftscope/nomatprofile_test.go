//go:build !matprofile

package main

const matsProfiled = false

// leakedMats counts nothing here: gocv counts Mats only under -tags matprofile.
func leakedMats() int { return 0 }
