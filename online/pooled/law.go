package pooled

import (
	"fmt"
	"math"
	"strings"

	"driftscope/online/states"
)

// Law is that of all objects. It is never changed once it is here.
type Law struct {
	*states.Law
	Seq      uint64 // of the frame up to which it was learnt
	Spectrum [Bins]float64
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
	l := &Law{Law: found, Seq: o.seq}
	for _, b := range states.Spectrum(o.segments, o.options, found.MostNoise) {
		l.Spectrum[binOf(b.D)] += b.Share
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
	if len(l.States) == 1 {
		all := "All objects diffuse alike: "
		if l.Spread.Value > 0 {
			all = fmt.Sprintf("One kind of object, each with a D of its own (%.0f %% apart): ", 100*math.Expm1(l.Spread.Value))
		}
		return all + d(l.States[0]) + "."
	}
	var parts []string
	for _, s := range l.States {
		parts = append(parts, fmt.Sprintf("%.0f %% of the time %s", 100*s.Fraction.Value, d(s)))
	}
	between := "; no object is told to switch between them."
	if switching {
		between = "; objects switch between them."
	}
	return fmt.Sprintf("%d states: %s%s", len(l.States), strings.Join(parts, ", "), between)
}
