package pooled

import (
	"fmt"
	"math"
	"strings"

	"driftscope/online/maps"
	"driftscope/online/states"
)

// Law is that of all objects. It is never changed once it is here.
type Law struct {
	Mixture  *states.Law
	Seq      uint64 // of the frame up to which it was learnt
	Spectrum [Bins]float64
	Map      *maps.Law // nil where there is none
}

// The bins of a spectrum as it is told: a fixed range, so that spectra of one film after another lie over each other.
const (
	Bins      = 32
	perDecade = 4
	lowest    = 1e-4 // px²/s, the lower edge of the first bin, which has all below it too
)

// Edges are the bins' lower edges, px²/s.
func Edges() []float64 {
	edges := make([]float64, Bins)
	for i := range edges {
		edges[i] = lowest * math.Pow(10, float64(i)/perDecade)
	}
	return edges
}

// learn finds the law.
func learn(o order) *Law {
	found, ok := states.Infer(o.segments, o.options)
	if !ok {
		return nil
	}
	found.Objects = nil // of pieces, which nobody asks for
	l := &Law{Mixture: found, Seq: o.seq}
	for _, b := range states.Spectrum(o.segments, o.options, found.MostNoise) {
		l.Spectrum[binOf(b.D)] += b.Share
	}
	if o.field != nil {
		l.Map = o.field.Law()
	}
	return l
}

func binOf(d float64) int {
	if !(d > lowest) {
		return 0
	}
	return min(int(perDecade*math.Log10(d/lowest)), Bins-1)
}

// Says is the law in a sentence. pixel is the side of a pixel in µm, 0 where it is not known; switching says whether the evidence is that objects switch.
func (l *Law) Says(pixel float64, switching bool) string {
	factor, unit := 1.0, "px²/s"
	if pixel > 0 {
		factor, unit = pixel*pixel, "µm²/s"
	}
	d := func(s states.State) string {
		if s.D.Low == 0 {
			return fmt.Sprintf("D below %.2g %s", factor*s.D.High, unit)
		}
		return fmt.Sprintf("D %.3g (%.3g to %.3g) %s", factor*s.D.Value, factor*s.D.Low, factor*s.D.High, unit)
	}
	if len(l.Mixture.States) == 1 {
		all := "All objects diffuse alike: "
		if l.Mixture.Spread.Value > 0 {
			all = fmt.Sprintf("One kind of object, each with a D of its own, a factor of %.2g about the middle: ", math.Exp(l.Mixture.Spread.Value))
		}
		return all + d(l.Mixture.States[0]) + "."
	}
	var parts []string
	for _, s := range l.Mixture.States {
		parts = append(parts, fmt.Sprintf("%.0f %% of the time %s", 100*s.Fraction.Value, d(s)))
	}
	between := "; no object is told to switch between them."
	if switching {
		between = "; objects switch between them."
	}
	return fmt.Sprintf("%d states: %s%s", len(l.Mixture.States), strings.Join(parts, ", "), between)
}

// Places says which traps, vortices and flows the map has, a sentence each.
func (l *Law) Places() (says []string) {
	if l.Map == nil {
		return nil
	}
	for _, p := range l.Map.Traps {
		low, high := p.Interval()
		says = append(says, fmt.Sprintf("a trap at %.0f, %.0f px, stiffness %.2g (%.2g to %.2g) /s", p.X, p.Y, p.Rate, low, high))
	}
	for _, p := range l.Map.Vortices {
		low, high := p.Interval()
		says = append(says, fmt.Sprintf("a vortex at %.0f, %.0f px, %.2g (%.2g to %.2g) rad/s", p.X, p.Y, p.Rate, low, high))
	}
	if f := l.Map.Flow; f != nil {
		says = append(says, fmt.Sprintf("a flow of %.2g, %.2g px/s ± %.1g", f.X, f.Y, f.SD))
	}
	return says
}
