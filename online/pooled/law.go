package pooled

import (
	"math"

	"driftscope/online/maps"
	"driftscope/online/states"
)

// Law is the law of all objects. It is immutable.
type Law struct {
	Mixture  *states.Law
	Seq      uint64 // of the frame up to which it was learnt
	Spectrum [Bins]float64
	Map      *maps.Law // nil if there is no map
}

// Bins of a published spectrum. The range is fixed, so that the spectra of two films can be compared.
const (
	Bins      = 32
	perDecade = 4
	lowest    = 1e-4 // px²/s, the lower edge of the first bin; that bin also holds everything below
)

// Edges returns the lower edges of the bins, px²/s.
func Edges() []float64 {
	edges := make([]float64, Bins)
	for i := range edges {
		edges[i] = lowest * math.Pow(10, float64(i)/perDecade)
	}
	return edges
}

// order holds the input of one learning job. It is read-only.
type order struct {
	seq      uint64
	segments []states.Segment
	field    *maps.Map // nil if there is no map
	options  states.Options
}

// learn finds the law. It calls pause many times. It returns nil if no step moves.
func learn(o order, pause func()) *Law {
	o.options.Pause = pause
	found, ok := states.Infer(o.segments, o.options)
	if !ok {
		return nil
	}
	found.Objects = nil // results per piece, unused
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

// Says describes the law in a sentence. pixel is the side of a pixel in µm, 0 if unknown; switching reports whether the evidence shows that objects switch.
func (l *Law) Says(pixel float64, switching bool) string {
	if pixel > 0 {
		return l.Mixture.Says(pixel, "µm", switching)
	}
	return l.Mixture.Says(1, "px", switching)
}
