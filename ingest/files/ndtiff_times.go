package files

import (
	"math"

	"driftscope/ingest/tiff"
)

// chooseTimes uses the images' own times if the user gave none: the time of arrival in the computer, in microseconds, or the time since the start of the
// acquisition, in milliseconds. It uses them only if the first two increase. It returns an error while they are pending; then call it again.
func (s *ndtiffSource) chooseTimes() error {
	if !s.clock.Timed() {
		times, err := s.firstTimes()
		if s.pending(err) {
			return err
		}
		for _, of := range []func(tiff.NDTimes) float64{
			func(t tiff.NDTimes) float64 { return t.Received },
			func(t tiff.NDTimes) float64 { return t.Elapsed },
		} {
			if !s.clock.Timed() && err == nil && rise(times, of) {
				s.own, s.origin = of, of(times[0])
				s.clock.Own()
			}
		}
		s.clock.Settle()
	}
	s.asked = true
	return nil
}

// firstTimes returns the times of the first image and of the second, if it exists.
func (s *ndtiffSource) firstTimes() ([]tiff.NDTimes, error) {
	var times []tiff.NDTimes
	for i := range min(2, len(s.series.picked)) {
		image := &s.series.picked[i]
		if err := s.openFile(image.entry.File); err != nil {
			return nil, err
		}
		t, err := image.entry.Times(s.file)
		if err != nil {
			return nil, err
		}
		times = append(times, t)
	}
	return times, nil
}

// rise reports whether the times are known and increase.
func rise(times []tiff.NDTimes, of func(tiff.NDTimes) float64) bool {
	last := math.Inf(-1)
	for _, t := range times {
		if !(of(t) > last) {
			return false
		}
		last = of(t)
	}
	return true
}
