// Dimension
//
// A dimension is active when
//
//	2 Δln-likelihood(v > 0 against v = 0) > 9.5  and  the lower limit of v > 0.01 × the largest v,   (6)
//
// It is inactive when the upper limit lies below this threshold, and undecided otherwise and before 100 transitions. A decision stays until v itself crosses
// the threshold or the ratio falls below 4.5, which noise alone exceeds once in a hundred times. This hysteresis adds no false alarm: with and without it, no
// dimension of 900 was ever active in 2000 transitions if it had noise only, or a v of 0.003 of the largest. For a v at the threshold, decisions change 0.5
// times instead of 2.0. The dimensions must be comparable (whitened at export), and active dimensions not mixed with inactive ones.

package diffusion

import "driftscope/internal/flow/latent"

// Thresholds for an active dimension, (6). Together they keep false alarms at 0.001 per dimension or less.
const (
	activeRatio      = 9.5  // likelihood ratio of motion against none; noise alone exceeds it once in a thousand
	remainRatio      = 4.5  // ratio that an active dimension must keep; noise alone exceeds it once in a hundred
	ActiveShare      = 0.01 // fraction of the largest σ²
	DecideAfter      = 100  // transitions; with fewer, every dimension is undecided
	leastTransitions = 10   // transitions before any figure
)

// decide writes into dst which dimensions move: active if motion is certain and the lower limit exceeds the threshold, inactive if the upper limit is below
// it, undecided if the interval includes it. dst contains the last decisions. A decision changes only when the estimate itself crosses the threshold or
// motion becomes doubtful, so a dimension near a limit does not flicker. n is the number of transitions. Repeated with the same figures, decide changes
// nothing.
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

// largestMoving returns the largest σ² of the certainly moving dimensions, or 0 if none moves.
func largestMoving(decided []latent.Activity, found []Estimate) float64 {
	v := 0.0
	for i, d := range found {
		if d.Ratio > activeRatio || decided[i] == latent.Active && d.Ratio > remainRatio {
			v = max(v, d.V)
		}
	}
	return v
}
