package law

import (
	"math"
	"slices"

	"driftscope/online/exact"
)

// Motion summarises the kinds of motion of single tracks. The frequency of each kind is learnt from all tracks.
type Motion struct {
	Tracks    int                `json:"tracks"`        // classified
	Unused    int                `json:"tracks_unused"` // not classified, because there are too many
	Counts    map[string]int     `json:"counts"`        // tracks per most probable kind
	Means     map[string]float64 `json:"mean_probabilities"`
	Alpha     float64            `json:"alpha"`           // median of the tracks' exponents of E(x(t)-x(0))² ∝ t^α, each with all tracks as its prior
	Quartiles [2]float64         `json:"alpha_quartiles"` // half of the tracks lie between them
}

// motion classifies single tracks.
func (f *film) motion(found *Findings, e *exact.Law) {
	m := &Motion{Counts: map[string]int{}, Means: map[string]float64{}}
	var alphas []float64
	for i := range e.Objects {
		o := &e.Objects[i]
		if !o.Judged {
			m.Unused++
			continue
		}
		m.Tracks++
		m.Counts[classOf(o).String()]++
		for c, p := range o.Class {
			m.Means[exact.Class(c).String()] += p
		}
		if !math.IsNaN(o.Alpha.Value) {
			alphas = append(alphas, o.Alpha.Value)
		}
	}
	if m.Tracks == 0 || len(alphas) == 0 {
		return
	}
	for c := range m.Means {
		m.Means[c] /= float64(m.Tracks)
	}
	slices.Sort(alphas)
	at := func(share float64) float64 { return alphas[int(math.Round(share*float64(len(alphas)-1)))] }
	m.Alpha, m.Quartiles = at(0.5), [2]float64{at(0.25), at(0.75)}
	found.Motion = m
}

// classOf returns the most probable kind.
func classOf(o *exact.Object) (best exact.Class) {
	for c, p := range o.Class {
		if p > o.Class[best] {
			best = exact.Class(c)
		}
	}
	return best
}
