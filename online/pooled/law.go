package pooled

import (
	"math"

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

// order is what is to be learnt from. Nobody changes it.
type order struct {
	seq      uint64
	segments []states.Segment
	field    *maps.Map // nil where there is none
	options  states.Options
}

// learn finds the law, and calls pause many times meanwhile. It returns nil if no step moves.
func learn(o order, pause func()) *Law {
	o.options.Pause = pause
	found, ok := states.Infer(o.segments, o.options)
	if !ok {
		return nil
	}
	found.Objects = nil // of pieces, which nobody asks for
	l := &Law{Mixture: found, Seq: o.seq}
	o.options.Lag = found.Lag
	for _, b := range states.Spectrum(o.segments, o.options, found.MostNoise) {
		l.Spectrum[binOf(b.D)] += b.Share
	}
	if o.field != nil {
		l.Map = o.field.Law(pause)
		l.Map.Release()
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
	if pixel > 0 {
		return l.Mixture.Says(pixel, "µm", switching)
	}
	return l.Mixture.Says(1, "px", switching)
}
