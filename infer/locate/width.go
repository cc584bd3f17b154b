package locate

import (
	"errors"
	"math"
	"slices"
)

// The search for the template's width: scales from LeastSD on, each larger by widthStep, as far as the picture allows.
const (
	widthStep   = 1.2
	widthScore  = 5.0 // height of a maximum that counts: noise alone has some of about 4 in a picture of a million pixels
	widthMaxima = 20  // the highest maxima, whose mean has to count
)

// ErrNoSpots is returned where no scale shows a spot.
var ErrNoSpots = errors.New("no spots stand out of the noise at any scale: give the template's sd, px, or look at the film")

// Width is the sd, px, of the template that fits a picture's spots best: the scale at which spots at the maxima of z explain
// most, Σ z²/2 in logarithms of likelihood, each above what noise may reach. A filter of another width than a spot's has a smaller score by
// 2 s s₀/(s² + s₀²); a wide one has higher maxima where spots overlap, but fewer.
func Width(h, w int, picture []float32) (float64, error) {
	var sds, scores, tops []float64
	for sd := LeastSD; sd <= min(MostSD, float64(min(h, w))/12); sd *= widthStep {
		l, err := New(h, w, Options{SD: sd})
		if err != nil {
			break
		}
		explained, top := l.explained(picture)
		sds, scores, tops = append(sds, sd), append(scores, explained), append(tops, top)
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
	if tops[best] < widthScore {
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

// explained is Σ z² over the picture's maxima that count, each less the least that does, and the mean of the highest ones.
func (l *Locator) explained(picture []float32) (sum, top float64) {
	l.begin(picture)
	l.score(0)
	slices.SortFunc(l.seeds, higher)
	n := min(len(l.seeds), widthMaxima)
	for i, s := range l.seeds {
		z := float64(s.z)
		sum += max(z*z-widthScore*widthScore, 0)
		if i < n {
			top += z / float64(n)
		}
	}
	return sum, top
}
