//go:build matprofile && cgo

package stream

import (
	"gocv.io/x/gocv"

	"driftscope/sinks"
)

// tellMats adds the number of open OpenCV matrices to the metrics, for the soak: see cmd/driftlab/internal/soak.
func tellMats(m *sinks.Metrics) {
	m.Gauge("driftscope_open_mats", "OpenCV matrices that were made and not closed.", func() float64 { return float64(gocv.MatProfile.Count()) })
}
