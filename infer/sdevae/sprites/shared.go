package sprites

import (
	"context"
	"math"
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// The search for sprites of one template.
const (
	sharedRounds = 8 // rounds of locating and learning the template
	retryRounds  = 2 // rounds of locating from another start
)

const (
	maxSimilarity float64 = 0.97 // tuned sprites.similarity: correlation of two templates above which a frame does not tell them apart
)

// SharedTemplates returns, for each sprite, the index of the first sprite with a similar template. This is the sprite itself if no earlier template is similar.
func (m *Set) SharedTemplates() []int {
	group := make([]int, len(m.Templates))
	for k := range group {
		group[k] = k
		for other := range k {
			if group[other] == other && m.similarity(k, other) > maxSimilarity {
				group[k] = other
				break
			}
		}
	}
	return group
}

// commonTemplate returns the template that most sprites share, or nil if no two sprites share a template.
func (m *Set) commonTemplate() [][]complex128 {
	members := make([]int, len(m.Templates))
	for _, of := range m.SharedTemplates() {
		members[of]++
	}
	if most := slices.Max(members); most > 1 {
		return m.Templates[slices.Index(members, most)]
	}
	return nil
}

// learnShared locates n sprites with one template, from an initial guess of the template, and returns the residual energy.
func (m *Set) learnShared(ctx context.Context, c *video.Clip, frames []int, n int, shape [][]complex128) (left float64) {
	f := m.Residual(c, frames)
	m.shared = true
	for k := range n {
		m.Templates, f.place = append(m.Templates, shape), append(f.place, make([][2]float64, len(f.left)))
		m.locate(f, k)
		m.add(f, k, -1)
	}
	for range numeric.Rounds(ctx, sharedRounds) {
		m.relocateAll(f)
		m.updateShared(f)
		m.updateBackground(f)
	}
	return f.Energy(m)
}

// relocateAll locates all sprites of one template again in every frame. It starts from their positions in this frame, the previous one and the next one,
// because one frame does not separate the light of overlapping sprites.
func (m *Set) relocateAll(f *Residual) {
	for i := range f.left {
		f.left[i] = m.residualOf(f, i, f.placesIn(i))
		m.retryFrom(f, i, i)
		if f.intervals[i] > 0 {
			m.retryFrom(f, i, i-1)
		}
	}
	for i := len(f.left) - 2; i >= 0; i-- {
		if f.intervals[i+1] > 0 {
			m.retryFrom(f, i, i+1)
		}
	}
}

// placesIn returns the positions of all sprites in frame i.
func (f *Residual) placesIn(i int) [][2]float64 {
	place := make([][2]float64, len(f.place))
	for k := range place {
		place[k] = f.place[k][i]
	}
	return place
}

// retryFrom locates the sprites in frame i again, starting from their positions in another frame. It keeps the result if the residual is smaller.
func (m *Set) retryFrom(f *Residual, i, from int) {
	place := f.placesIn(from)
	left := m.residualOf(f, i, place)
	for range retryRounds {
		for k := range place {
			m.addTo(left, k, place[k], 1)
			place[k] = m.locateIn(left, k)
			m.addTo(left, k, place[k], -1)
		}
		left = m.residualOf(f, i, place)
	}
	if m.energy(left) < m.energy(f.left[i]) {
		f.left[i] = left
		for k, at := range place {
			f.place[k][i] = at
		}
	}
}

// residualOf returns frame i minus the background and the sprites at these positions. The residual of a saturated pixel is 0 if the model is brighter.
func (m *Set) residualOf(f *Residual, i int, place [][2]float64) [][]complex128 {
	area, frame := m.plane.H*m.plane.W, f.clip.Frame(f.frames[i])
	left, residual := make([][]complex128, m.channels), make([]float32, area)
	for ch := range left {
		left[ch] = make([]complex128, m.plane.Size())
		copy(m.sum, m.Background[ch])
		for k, at := range place {
			m.shift.Set(at[0], at[1])
			m.shift.Add(m.sum, m.Templates[k][ch], 1)
		}
		m.plane.Inverse(m.picture, m.sum)
		for p, x := range frame[ch*area : (ch+1)*area] {
			residual[p] = x - float32(m.picture[p])
			if x >= 1 {
				residual[p] = max(residual[p], 0)
			}
		}
		m.plane.Forward(left[ch], residual)
	}
	return left
}

// updateShared adds the mean residual around all sprites to the common template.
func (m *Set) updateShared(f *Residual) {
	scale := complex(1/float64(len(m.Templates)*len(f.left)), 0)
	shape := make([][]complex128, m.channels)
	for ch := range shape {
		shape[ch] = slices.Clone(m.Templates[0][ch])
	}
	for k := range m.Templates {
		for i, left := range f.left {
			m.shift.Set(-f.place[k][i][0], -f.place[k][i][1])
			for ch := range shape {
				m.shift.Add(shape[ch], left[ch], scale)
			}
		}
	}
	m.trim(shape, templateEdge)
	for k := range m.Templates {
		m.add(f, k, 1)
		m.Templates[k] = shape
		m.add(f, k, -1)
	}
}

// similarity returns the largest correlation of two sprites' templates, over all shifts.
func (m *Set) similarity(a, b int) float64 {
	one, other := m.Templates[a], m.Templates[b]
	clear(m.sum)
	for ch := range one {
		m.correlate(one[ch], other[ch])
	}
	m.plane.Inverse(m.picture, m.sum)
	return slices.Max(m.picture) / math.Sqrt(m.energy(one)*m.energy(other))
}

// ShareTemplates replaces the templates of each group of sprites by their mean.
func (m *Set) ShareTemplates(group []int) {
	for first := range m.Templates {
		var members []int
		for k, of := range group {
			if of == first {
				members = append(members, k)
			}
		}
		for ch := range m.channels {
			mean := make([]complex128, m.plane.Size())
			for _, k := range members {
				for j, v := range m.Templates[k][ch] {
					mean[j] += v / complex(float64(len(members)), 0)
				}
			}
			for _, k := range members {
				m.Templates[k][ch] = mean
			}
		}
	}
}
