package diffusion

import "driftscope/internal/flow/latent"

// What it takes to call a dimension active, doc.go (6): together they keep false alarms at 0.001 a dimension or less.
const (
	activeRatio      = 9.5  // likelihood ratio of motion against none, exceeded by noise alone once in a thousand
	remainRatio      = 4.5  // what a dimension already found active must keep, exceeded by noise alone once in a hundred
	ActiveShare      = 0.01 // of the largest σ² found
	DecideAfter      = 100  // transitions; with fewer everything is undecided
	leastTransitions = 10   // transitions before any figure is given
)

// decide writes which dimensions move: active where motion is certain and its lower limit exceeds the threshold, inactive
// where the upper limit lies below it, undecided while the interval straddles it. dst holds the last decision: it stands until the
// estimate itself has crossed the threshold, or motion has become doubtful, so that what lies at a limit does not flicker.
// n is the number of transitions. On the same figures a decision repeats itself.
func decide(dst []latent.Activity, found []Estimate, n float64) (active int) {
	threshold := ActiveShare * largestMoving(dst, found)
	for i, d := range found {
		switch {
		case n < DecideAfter || threshold == 0:
			dst[i] = latent.Undecided
		case d.Ratio > activeRatio && d.Low > threshold:
			dst[i] = latent.Active
		case d.High < threshold:
			dst[i] = latent.Inactive
		case dst[i] == latent.Active && d.Ratio > remainRatio && d.V > threshold:
		case dst[i] == latent.Inactive && d.V < threshold:
		default:
			dst[i] = latent.Undecided
		}
		if dst[i] == latent.Active {
			active++
		}
	}
	return active
}

// largestMoving is the largest σ² of the dimensions that move beyond doubt, 0 where none does.
func largestMoving(decided []latent.Activity, found []Estimate) float64 {
	v := 0.0
	for i, d := range found {
		if d.Ratio > activeRatio || decided[i] == latent.Active && d.Ratio > remainRatio {
			v = max(v, d.V)
		}
	}
	return v
}
