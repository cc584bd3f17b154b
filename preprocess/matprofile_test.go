//go:build matprofile

package preprocess

import "gocv.io/x/gocv"

func leakedMats() int { return gocv.MatProfile.Count() }
