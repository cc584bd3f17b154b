//go:build matprofile

package ingest

import "gocv.io/x/gocv"

func leakedMats() int { return gocv.MatProfile.Count() }
