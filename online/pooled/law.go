package pooled

import (
	"math"
	"slices"

	"driftscope/online/exact"
	"driftscope/online/maps"
	"driftscope/online/states"
)

// Law is the law of all objects. It is immutable.
type Law struct {
	Mixture  *states.Law
	Seq      uint64 // last frame that the law was learnt from
	Spectrum [Bins]float64
	Map      *maps.Law  // nil if there is no map
	Motion   *exact.Law // result of the last comparison of kinds; nil if the steps do not determine a kind
	Frame    float64    // s per frame of Motion
}

// mostCompared is the largest number of steps in a comparison of kinds, which then takes one to five seconds.
const mostCompared = 3000

// Bins of a published spectrum. The range is fixed, so spectra of two films can be compared.
const (
	Bins      = 32
	perDecade = 4
	lowest    = 1e-4 // lower edge of the first bin, px²/s; this bin also includes everything below
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
	compare  bool // compare the kinds of law
	before   Law  // the previous law; its Motion and Frame stay if compare is false
	live     bool
}

// learn finds the law. It calls pause many times, and returns nil if no step moves.
func learn(o order, pause func()) *Law {
	l := &Law{Motion: o.before.Motion, Frame: o.before.Frame, Seq: o.seq}
	if o.compare {
		l.compare(&o, pause)
	}
	o.options.Pause, o.options.Lag = pause, 1
	m := l.Motion
	late := m != nil && m.Kind == exact.Late
	if late {
		o.options.Lag = 0
	}
	if m == nil || m.Kind != exact.Switching && !((m.Kind == exact.Free || late) && m.Grouped()) {
		o.options.Most = 1 // no evidence for more states
	}
	found, ok := states.Infer(o.segments, o.options)
	if !ok {
		return nil
	}
	found.Objects = nil // results per piece, unused
	l.Mixture = found
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

// compare finds the kind of law from some of the pieces.
func (l *Law) compare(o *order, pause func()) {
	some := thin(slices.Clone(o.segments), mostCompared)
	var times []float64
	for i := range some {
		for _, s := range some[i].Steps {
			times = append(times, s.DT)
		}
	}
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	l.Frame = times[len(times)/2]
	tracks := make([]exact.Track, len(some))
	for i := range some {
		tracks[i] = l.track(some[i].Steps)
	}
	with := exact.Options{Exposure: min(o.options.Exposure/l.Frame, 1)}
	if o.live {
		with.Pause = pause
	}
	found, ok := exact.Infer(tracks, with)
	if l.Motion = found; !ok {
		l.Motion = nil
	}
}

// track returns steps as positions in frames, starting at 0, 0.
func (l *Law) track(steps []states.Step) exact.Track {
	t := make(exact.Track, len(steps)+1)
	for k, s := range steps {
		t[k+1] = exact.Place{Frame: t[k].Frame + int(max(math.Round(s.DT/l.Frame), 1)), X: t[k].X + s.X, Y: t[k].Y + s.Y}
	}
	return t
}

// Switching reports whether objects switch between the states of Motion.
func (l *Law) Switching() bool { return l.Motion != nil && l.Motion.Kind == exact.Switching }

// Says describes the law in a sentence. pixel is the side of a pixel in µm, 0 if unknown.
func (l *Law) Says(pixel float64) string {
	unit := "µm"
	if !(pixel > 0) {
		pixel, unit = 1, "px"
	}
	if m := l.Motion; m != nil && (m.Kind != exact.Free && m.Kind != exact.Late || m.Axes != [2]bool{true, true}) {
		return m.Says(pixel, unit, l.Frame)
	}
	return l.Mixture.Says(pixel, unit)
}
