//go:build matprofile

package sdevae

import "gocv.io/x/gocv"

func leakedMats() int { return gocv.MatProfile.Count() }
