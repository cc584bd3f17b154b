//go:build matprofile

package mats

import "gocv.io/x/gocv"

// Profiled reports that every Mat records where it was made.
const Profiled = true

// Open returns the number of open Mats.
func Open() int { return gocv.MatProfile.Count() }
