package online

import "driftscope/internal/latent"

// What it takes to call a dimension active, doc.go (6): together they keep false alarms at 0.001 a dimension or less.
const (
	activeRatio  = 9.5  // likelihood ratio of motion against none, exceeded by noise alone once in a thousand
	activeShare  = 0.01 // of the largest σ² found
	decideAfter  = 100  // transitions; with fewer everything is undecided
	leastFigures = 10   // transitions before any figure is given
)

// decide writes which dimensions move: active where motion is certain and its lower limit exceeds the threshold, inactive
// where the upper limit lies below it, undecided while the interval straddles it. n is the number of transitions.
func decide(dst []latent.Activity, found []diffusion, n float64) (active int) {
	largest := 0.0
	for _, d := range found {
		if d.ratio > activeRatio {
			largest = max(largest, d.v)
		}
	}
	threshold := activeShare * largest
	for i, d := range found {
		switch {
		case n < decideAfter || threshold == 0:
			dst[i] = latent.Undecided
		case d.ratio > activeRatio && d.low > threshold:
			dst[i] = latent.Active
			active++
		case d.high < threshold:
			dst[i] = latent.Inactive
		default:
			dst[i] = latent.Undecided
		}
	}
	return active
}
