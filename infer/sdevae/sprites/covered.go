package sprites

import (
	"context"
	"math"
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// coveredRounds is the number of rounds. Each round fills in the covered background and learns the sprites over it. The second round is needed because the
// first does not yet know the sprites' extent.
const coveredRounds = 2

// Uncovered learns m again over a background without sprites. An object that stays near one position is also part of the median picture. The residual then has
// the difference between its light and its light in the background, so its template is only an edge. Uncovered therefore fills in the background at every pixel
// that a sprite covers in at least half of the given frames, from the surroundings. The result is nil if no pixel is covered, or all are.
func (m *Set) Uncovered(ctx context.Context, c *video.Clip, frames []int) (found *Set) {
	frames = searched(c, frames)
	for range numeric.Rounds(ctx, coveredRounds) {
		places, _ := m.Track(c, frames)
		covered := m.coveredBy(places)
		if !slices.Contains(covered, true) || !slices.Contains(covered, false) {
			return found
		}
		m = m.relearnOver(ctx, m.Residual(c, frames), places, covered)
		found = m
	}
	return found
}

// coveredBy marks the pixels that a sprite covers in at least half of the frames.
func (m *Set) coveredBy(places []float64) []bool {
	h, w, n := m.plane.H, m.plane.W, len(m.Templates)
	count := make([]int, h*w)
	for k := range m.Templates {
		support := m.support(k)
		for at := 2 * k; at < len(places); at += 2 * n {
			x, y := int(math.Round(places[at])), int(math.Round(places[at+1]))
			for p, some := range support {
				if some {
					count[((p/w+y)%h+h)%h*w+((p%w+x)%w+w)%w]++
				}
			}
		}
	}
	covered := make([]bool, h*w)
	for p, frames := range count {
		covered[p] = 2*frames*2*n >= len(places)
	}
	return covered
}

// relearnOver learns m from known positions, over its background with the covered pixels filled in and fixed.
func (m *Set) relearnOver(ctx context.Context, f *Residual, places []float64, covered []bool) *Set {
	next := m.copy()
	next.covered, next.Templates = covered, nil
	for _, still := range next.Background {
		m.plane.Inverse(m.picture, slices.Clone(still))
		m.plane.Forward(still, numeric.Float32s(fill(m.picture, covered, m.plane.W)))
	}
	f = next.Residual(f.clip, f.frames)
	for k := range m.Templates {
		at := make([][2]float64, len(f.frames))
		for i := range at {
			at[i] = [2]float64(places[2*(i*len(m.Templates)+k):])
		}
		f.place = append(f.place, at)
		next.Templates = append(next.Templates, next.nothing())
		next.updateTemplate(f, k, templateEdge)
		next.add(f, k, -1)
	}
	next.refine(ctx, f, jointRounds)
	return next
}

// nothing returns a template without light.
func (m *Set) nothing() [][]complex128 {
	s := make([][]complex128, m.channels)
	for ch := range s {
		s[ch] = make([]complex128, m.plane.Size())
	}
	return s
}

// fill sets every covered pixel of a picture to the mean of its four neighbours, iteratively, starting from the median of the uncovered pixels. Pictures wrap
// around.
func fill(picture []float64, covered []bool, w int) []float64 {
	var others []float64
	for p, v := range picture {
		if !covered[p] {
			others = append(others, v)
		}
	}
	slices.Sort(others)
	n := len(picture)
	for p := range picture {
		if covered[p] {
			picture[p] = others[len(others)/2]
		}
	}
	for range 4 * w {
		for p := range picture {
			if covered[p] {
				row := p / w * w
				picture[p] = (picture[(p+w)%n] + picture[(p+n-w)%n] + picture[row+(p+1)%w] + picture[row+(p+w-1)%w]) / 4
			}
		}
	}
	return picture
}

// uncover sets the covered pixels of a picture's spectrum to zero.
func (m *Set) uncover(spectrum []complex128) {
	m.plane.Inverse(m.picture, spectrum)
	for p, c := range m.covered {
		if c {
			m.picture[p] = 0
		}
	}
	m.plane.Forward(spectrum, numeric.Float32s(m.picture))
}
