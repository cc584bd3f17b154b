//go:build !matprofile

package suite

// MatsProfiled is true if every Mat records where it was made.
const MatsProfiled = false

// OpenMats returns 0: gocv counts Mats only under -tags matprofile.
func OpenMats() int { return 0 }
