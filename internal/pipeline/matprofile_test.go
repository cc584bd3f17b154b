//go:build matprofile

package pipeline

import "gocv.io/x/gocv"

func leakedMats() int { return gocv.MatProfile.Count() }
