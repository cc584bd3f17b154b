//go:build !(matprofile && cgo)

package stream

import "driftscope/sinks"

// tellMats does nothing: gocv counts Mats only under -tags matprofile.
func tellMats(*sinks.Metrics) {}
