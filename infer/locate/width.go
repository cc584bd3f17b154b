package locate

import (
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
)

// Parameters of the search for the width.
const (
	narrowest  = 0.7 // px. A narrower spot would be a single pixel, where noise has high values: of 260,000 Poisson counts, 20 exceed 5 sds
	widthStep  = 1.2
	widthScore = 5.0 // smallest score of a maximum; pure noise reaches about 4 in a picture of a million pixels
)

// Widest returns the sd in px of the widest template for pictures of h × w.
func Widest(h, w int) float64 { return min(MostSD, float64(min(h, w))/12) }

// Width returns the sd of a picture's spots, px. It tries widths on a geometric ladder, from a first guess towards the template that explains the picture best,
// and interpolates with a parabola through the best width and its neighbours. The best template leaves the smallest Σ r²/var - Σ z², which is minus twice a
// log-likelihood, after background and spots at the maxima of z were subtracted. The spots are subtracted one by one, the highest first (matching pursuit),
// down to the level of noise and texture. A filter whose width s differs from the spot's width s₀ scores less, by the factor 2 s s₀/(s² + s₀²). If spots
// overlap, a wide filter has higher but fewer maxima.
func Width(h, w int, picture []float32, guess float64, dark bool) float64 {
	try := func(sd float64) float64 {
		l, err := New(h, w, Options{SD: sd, Dark: dark})
		if err != nil || sd < narrowest || sd > Widest(h, w) {
			return math.Inf(1)
		}
		return l.explain(picture)
	}
	rungs := math.Log(min(max(guess, narrowest), Widest(h, w))/narrowest) / math.Log(widthStep)
	sd := narrowest * math.Pow(widthStep, math.Floor(rungs+0.5)) // the same ladder of widths for any first guess
	before, least, after := try(sd/widthStep), try(sd), try(sd*widthStep)
	for min(before, after) < least {
		if before < after {
			sd /= widthStep
			before, least, after = try(sd/widthStep), before, least
		} else {
			sd *= widthStep
			before, least, after = least, after, try(sd*widthStep)
		}
	}
	if bend := before - 2*least + after; bend > 0 && !math.IsInf(bend, 1) {
		sd *= math.Pow(widthStep, min(max(0.5*(before-after)/bend, -0.5), 0.5))
	}
	return sd
}

// explain returns Σ r²/var after the subtraction of background and spots, with the variance of the camera's noise.
func (l *Locator) explain(picture []float32) (left float64) {
	l.begin(picture)
	for y := range l.h {
		for x := range l.w {
			r := float64(l.field.Residual.Pixels[y*l.w+x])
			left += r * r / l.camera.At(l.background.at(x, y))
		}
	}
	l.filterChanges(0)
	texture, middle := l.scatter()
	l.rescale(texture)
	l.score(0)
	slices.SortFunc(l.seeds, higher)
	for _, s := range l.seeds {
		if float64(s.z)-middle >= widthScore {
			left -= l.pursue(s)
		}
	}
	return left
}

// pursue subtracts a spot at a maximum from the residual, and returns the decrease of Σ r²/var. Stronger spots must already be subtracted.
func (l *Locator) pursue(s seed) float64 {
	p := &l.patch
	l.patchOf(p, float64(s.x), float64(s.y))
	l.lanes.Shape(&l.field, p)
	var tt, tr float64
	for y := p.Y0; y < p.Y1; y++ {
		for x := p.X0; x < p.X1; x++ {
			t := float64(p.TX[x-p.X0] * p.TY[y-p.Y0])
			w := t / l.camera.At(l.background.at(x, y))
			tt += w * t
			tr += w * float64(l.field.Residual.Pixels[y*l.w+x])
		}
	}
	a := tr / tt
	if !(a > 0) {
		return 0
	}
	l.lanes.Move(&l.field, &kernel.Patch{}, 0, p, float32(-a))
	return tr * a
}
