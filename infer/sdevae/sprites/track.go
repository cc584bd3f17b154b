package sprites

import (
	"slices"

	"driftscope/infer/sdevae/video"
)

// Track locates the sprites in the given frames. It returns their positions, frames × 2 per sprite, and the mean residual energy per frame.
func (m *Set) Track(c *video.Clip, frames []int) (places []float64, left float64) {
	n, together := len(m.Templates), 1
	if m.LowSNR > 0 {
		together = lowSNRFrames(c)
	}
	for some := range slices.Chunk(frames, together) {
		f := m.Residual(c, some)
		for k := range n {
			f.place = append(f.place, make([][2]float64, len(some)))
			m.locate(f, k)
			m.add(f, k, -1)
		}
		for range trackRounds {
			m.round(f, false)
		}
		if m.shared {
			m.relocateAll(f)
		}
		for i := range some {
			for k := range n {
				places = append(places, f.place[k][i][0], f.place[k][i][1])
			}
			left += m.energy(f.left[i]) / float64(len(frames))
		}
	}
	return places, left
}

// Duplicated returns the share of a single sprite's light that its residual contains again at the best position, as the median over the given frames. If it is
// near 1, there are two such objects, and the choice between them was arbitrary. places covers all frames.
func (m *Set) Duplicated(c *video.Clip, frames []int, places []float64) float64 {
	var share []float64
	for _, i := range frames {
		f := m.Residual(c, []int{i})
		f.place = [][][2]float64{{{places[2*i], places[2*i+1]}}}
		m.add(f, 0, -1)
		clear(m.sum)
		for ch, s := range m.Templates[0] {
			m.correlate(f.left[0][ch], s)
		}
		m.plane.Inverse(m.picture, m.sum)
		share = append(share, slices.Max(m.picture)/m.energy(m.Templates[0]))
	}
	slices.Sort(share)
	return share[len(share)/2]
}
