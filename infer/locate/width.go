package locate

import (
	"errors"
	"math"
	"slices"
)

// The search for the template's width: scales from LeastSD on, each larger by widthStep, as far as the picture allows.
const (
	widthStep   = 1.2
	widthMaxima = 20 // the highest maxima of z, of which the mean is compared
)

// ErrNoSpots is returned where no scale shows a spot.
var ErrNoSpots = errors.New("no spots stand out of the noise at any scale: give the template's sd, px, or look at the film")

// Width is the sd, px, of the template that fits a picture's spots best: the scale at which the mean of the highest maxima of z is highest. A filter of
// another width than a spot's has a smaller score by 2 s s₀/(s² + s₀²).
func Width(h, w int, picture []float32) (float64, error) {
	var sds, scores []float64
	for sd := LeastSD; sd <= min(MostSD, float64(min(h, w))/12); sd *= widthStep {
		l, err := New(h, w, Options{SD: sd})
		if err != nil {
			break
		}
		sds, scores = append(sds, sd), append(scores, l.highest(picture))
	}
	if len(scores) == 0 {
		return 0, ErrNoSpots
	}
	best := 0
	for i, v := range scores {
		if v > scores[best] {
			best = i
		}
	}
	// noise alone has maxima of about 4 in a picture of a million pixels
	if scores[best] < 5 {
		return 0, ErrNoSpots
	}
	shift := 0.0
	if best > 0 && best+1 < len(scores) {
		before, top, after := scores[best-1], scores[best], scores[best+1]
		if bend := before - 2*top + after; bend < 0 {
			shift = min(max(0.5*(before-after)/bend, -0.5), 0.5)
		}
	}
	return sds[best] * math.Pow(widthStep, shift), nil
}

// highest is the mean of the highest maxima of the picture's z.
func (l *Locator) highest(picture []float32) float64 {
	l.begin(picture)
	l.score()
	l.maxima(0)
	if len(l.seeds) == 0 {
		return 0
	}
	slices.SortFunc(l.seeds, higher)
	top := l.seeds[:min(len(l.seeds), widthMaxima)]
	sum := 0.0
	for _, s := range top {
		sum += float64(s.z)
	}
	return sum / float64(len(top))
}
