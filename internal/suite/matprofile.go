//go:build matprofile

package suite

import "gocv.io/x/gocv"

// MatsProfiled reports that every Mat records where it was made.
const MatsProfiled = true

// OpenMats returns the number of open Mats.
func OpenMats() int { return gocv.MatProfile.Count() }
