//go:build matprofile

package infer_test

import "gocv.io/x/gocv"

func leakedMats() int { return gocv.MatProfile.Count() }
