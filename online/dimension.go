package online

import "driftscope/internal/latent"

// What it takes to call a dimension active, doc.go (6): together they keep false alarms at 0.001 a dimension or less.
const (
	activeRatio  = 9.5  // likelihood ratio of motion against none, exceeded by noise alone once in a thousand
	remainRatio  = 4.5  // what a dimension already found active must keep, exceeded by noise alone once in a hundred
	activeShare  = 0.01 // of the largest σ² found
	decideAfter  = 100  // transitions; with fewer everything is undecided
	leastFigures = 10   // transitions before any figure is given
)

// decide writes which dimensions move: active where motion is certain and its lower limit exceeds the threshold, inactive
// where the upper limit lies below it, undecided while the interval straddles it. dst holds the last decision: it stands until the
// estimate itself has crossed the threshold, or motion has become doubtful, so that what lies at a limit does not flicker.
// n is the number of transitions. On the same figures a decision repeats itself.
func decide(dst []latent.Activity, found []diffusion, n float64) (active int) {
	threshold := activeShare * mostMotion(dst, found)
	for i, d := range found {
		switch {
		case n < decideAfter || threshold == 0:
			dst[i] = latent.Undecided
		case d.ratio > activeRatio && d.low > threshold:
			dst[i] = latent.Active
		case d.high < threshold:
			dst[i] = latent.Inactive
		case dst[i] == latent.Active && d.ratio > remainRatio && d.v > threshold:
		case dst[i] == latent.Inactive && d.v < threshold:
		default:
			dst[i] = latent.Undecided
		}
		if dst[i] == latent.Active {
			active++
		}
	}
	return active
}

// mostMotion is the largest σ² of the dimensions that move beyond doubt, 0 where none does.
func mostMotion(decided []latent.Activity, found []diffusion) float64 {
	v := 0.0
	for i, d := range found {
		if d.ratio > activeRatio || decided[i] == latent.Active && d.ratio > remainRatio {
			v = max(v, d.v)
		}
	}
	return v
}
