package locate

import (
	"errors"
	"math"
	"slices"
	"sync"

	"driftscope/infer/locate/kernel"
)

// The search for the template tries widths from narrowest on, each larger by widthStep, as far as the picture allows, for bright and for dark spots.
const (
	narrowest   = 0.7 // px. A narrower spot is a single pixel, and noise reaches high there: of 260,000 Poisson counts, 20 exceed 5 sds
	widthStep   = 1.2
	widthScore  = 5.0 // least height of a maximum: noise alone reaches about 4 in a picture of a million pixels
	widthMaxima = 20  // number of highest maxima, whose mean must reach widthScore
)

// ErrNoSpots reports that no scale shows a spot.
var ErrNoSpots = errors.New("no spot is visible above the noise at any scale: set the template's sd, px, or look at the film")

// Found is the result of a search for spots.
type Found struct {
	SD   float64 // of the template, px
	Dark bool    // they are darker than their surroundings
}

// searchSide is the longest side of one search, px: 1024x1024 take 2.5 s of a processor, and a live camera continues meanwhile.
const searchSide = 1024

// Parts returns the number of parts of a picture for Search: the middle and, if it is not the whole picture, a grid of parts over all of it.
func Parts(h, w int) int {
	if h <= searchSide && w <= searchSide {
		return 1
	}
	return 1 + tiles(h)*tiles(w)
}

// tiles returns the number of parts, of at most searchSide, that cover a side.
func tiles(side int) int { return (side + searchSide - 1) / searchSide }

// Search returns the template that explains one part of a picture best. Part 0 is the middle. ErrNoSpots reports that this part shows no spot.
func Search(h, w int, picture []float32, part int) (Found, error) {
	height, width := min(h, searchSide), min(w, searchSide)
	if height == h && width == w {
		return search(h, w, picture)
	}
	y, x := (h-height)/2, (w-width)/2
	if part > 0 {
		y, x = corner((part-1)/tiles(w), h), corner((part-1)%tiles(w), w)
	}
	cut := make([]float32, 0, height*width)
	for ; len(cut) < height*width; y++ {
		cut = append(cut, picture[y*w+x:y*w+x+width]...)
	}
	return search(height, width, cut)
}

// corner returns the begin of part k along a side.
func corner(k, side int) int { return k * max(side-searchSide, 0) / max(tiles(side)-1, 1) }

// search returns the template that explains a picture best. Background and spots at the maxima of z then leave the smallest Σ r²/var - Σ z², twice the
// logarithm of a likelihood. It subtracts the spots one after the other, the highest first (matching pursuit), down to the reach of noise and texture.
// A filter of another width than the spot's scores less, by 2 s s₀/(s² + s₀²). A wide filter has higher maxima if spots overlap, but fewer. search
// returns ErrNoSpots if no scale shows a spot.
func search(h, w int, picture []float32) (Found, error) {
	var bright, dark trial
	var both sync.WaitGroup
	both.Go(func() { dark = try(h, w, picture, true) })
	bright = try(h, w, picture, false)
	both.Wait()
	switch {
	case !bright.counts && !dark.counts:
		return Found{}, ErrNoSpots
	case !bright.counts || dark.counts && dark.left < bright.left:
		return Found{SD: dark.sd, Dark: true}, nil
	}
	return Found{SD: bright.sd}, nil
}

// trial is the result of the best width.
type trial struct {
	sd     float64
	left   float64 // Σ r²/var - Σ z²
	counts bool    // the maxima reach widthScore
}

// try finds the best width of bright or of dark spots, to a fraction of a step, by the parabola through it and its neighbours.
func try(h, w int, picture []float32, dark bool) (best trial) {
	var sds, lefts []float64
	at := -1
	for sd := narrowest; sd <= min(MostSD, float64(min(h, w))/12); sd *= widthStep {
		l, err := New(h, w, Options{SD: sd, Dark: dark})
		if err != nil {
			break
		}
		left, top := l.explain(picture)
		sds, lefts = append(sds, sd), append(lefts, left)
		if at < 0 || left < best.left {
			at, best = len(sds)-1, trial{sd, left, top >= widthScore}
		}
	}
	if at > 0 && at+1 < len(lefts) {
		before, least, after := lefts[at-1], lefts[at], lefts[at+1]
		if bend := before - 2*least + after; bend > 0 {
			best.sd *= math.Pow(widthStep, min(max(0.5*(before-after)/bend, -0.5), 0.5))
		}
	}
	return best
}

// explain returns the residual of background and spots, in the camera's noise, and the mean of the highest maxima, in the noise with texture.
func (l *Locator) explain(picture []float32) (left, top float64) {
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
	n := min(len(l.seeds), widthMaxima)
	for i, s := range l.seeds {
		z := float64(s.z) - middle
		if z >= widthScore {
			left -= l.pursue(s)
		}
		if i < n {
			top += z / float64(n)
		}
	}
	return left, top
}

// pursue subtracts a spot at a maximum from the residual, and returns the fall of Σ r²/var. The light of stronger spots is already gone.
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
