package ingest

import (
	"math"

	"driftscope/ingest/ndtiff"
)

// chooseTimes takes the images' own times where the person gave none: when the computer received them, in microseconds, else the
// time since the acquisition began, in milliseconds. They count only where those of the first images rise.
func (s *ndtiffSource) chooseTimes() {
	s.asked = true
	if s.timed {
		return
	}
	for _, of := range []func(ndtiff.Times) float64{
		func(t ndtiff.Times) float64 { return t.Received },
		func(t ndtiff.Times) float64 { return t.Elapsed },
	} {
		if first, ok := s.rises(of); ok {
			s.own, s.origin, s.timed = of, first, true
			return
		}
	}
	s.settle()
}

// rises returns the first image's time, and whether it is known and comes before that of the second, if there is one yet.
func (s *ndtiffSource) rises(of func(ndtiff.Times) float64) (first float64, ok bool) {
	last := math.Inf(-1)
	for i := range min(2, len(s.series.picked)) {
		image := &s.series.picked[i]
		if s.openFile(image.File) != nil {
			return 0, false
		}
		times, err := image.Times(s.file)
		if t := of(times); err != nil || !(t > last) {
			return 0, false
		} else if last = t; i == 0 {
			first = t
		}
	}
	return first, true
}
