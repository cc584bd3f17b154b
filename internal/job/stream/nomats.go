//go:build !(matprofile && cgo)

package stream

import "driftscope/sinks"

// tellMats tells nothing here: gocv counts Mats only under -tags matprofile.
func tellMats(*sinks.Metrics) {}
