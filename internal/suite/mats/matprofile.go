//go:build matprofile

package mats

import "gocv.io/x/gocv"

// Profiled says that every Mat leaves a note of where it was made.
const Profiled = true

// Open is how many Mats are open.
func Open() int { return gocv.MatProfile.Count() }
