//go:build matprofile

package main

import "gocv.io/x/gocv"

func leakedMats() int { return gocv.MatProfile.Count() }
