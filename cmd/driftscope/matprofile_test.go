//go:build matprofile

package main

import "gocv.io/x/gocv"

// matsProfiled says that every Mat leaves a note of where it was made.
const matsProfiled = true

func leakedMats() int { return gocv.MatProfile.Count() }
