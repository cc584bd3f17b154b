package frame

// Light is the distance between the 5th and the 99th percentile of at most lightSamples values. The percentiles come from a histogram with one bin per grey
// value of an 8-bit picture.
const (
	lightSamples = 1024
	lightBins    = 256
	darkPart     = 0.05
	brightPart   = 0.99
)

// Light returns the difference between the picture's bright and dark parts, in its own grey values: the light of an object, independent of the
// camera's offset. It costs some microseconds at any size. It is 0 if unknown: in a picture that is blank, empty, not
// contiguous, or of another type than uint8, uint16 and float32.
func (f *Frame) Light() float64 {
	m := &f.mat
	if f.closed || m.Ptr() == nil || m.Empty() || !m.IsContinuous() {
		return 0
	}
	switch m.Type() & 7 { // the low three bits are the depth
	case MatTypeCV8U:
		v, err := m.DataPtrUint8()
		return contrast(v, err)
	case MatTypeCV16U:
		v, err := m.DataPtrUint16()
		return contrast(v, err)
	case MatTypeCV32F:
		v, err := m.DataPtrFloat32()
		return contrast(v, err)
	}
	return 0
}

// contrast returns the distance between the percentiles of an evenly spaced sample. The spacing is odd, so it does not coincide with the period of a sensor's
// columns.
func contrast[T uint8 | uint16 | float32](v []T, err error) float64 {
	if err != nil || len(v) == 0 {
		return 0
	}
	every := (len(v)+lightSamples-1)/lightSamples | 1
	low, high := v[0], v[0]
	for i := 0; i < len(v); i += every {
		low, high = min(low, v[i]), max(high, v[i])
	}
	span := float64(high) - float64(low)
	if !(span > 0) || span > largestSpan { // also for NaN and infinity
		return 0
	}
	var bins [lightBins]int
	n, scale := 0, (lightBins-1)/span
	for i := 0; i < len(v); i += every {
		bins[int((float64(v[i])-float64(low))*scale+0.5)]++
		n++
	}
	return float64(rank(&bins, brightPart*float64(n))-rank(&bins, darkPart*float64(n))) / scale
}

// largestSpan is the largest accepted range of grey values in a floating-point picture.
const largestSpan = 1e30

// rank returns the bin of the value with rank part, counted from below.
func rank(bins *[lightBins]int, part float64) int {
	sum := 0
	for k, count := range bins {
		if sum += count; float64(sum) >= part {
			return k
		}
	}
	return lightBins - 1
}
