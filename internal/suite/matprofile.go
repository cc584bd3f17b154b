//go:build matprofile

package suite

import "gocv.io/x/gocv"

// MatsProfiled is true if every Mat records where it was made.
const MatsProfiled = true

// OpenMats returns the number of open Mats.
func OpenMats() int { return gocv.MatProfile.Count() }
