package preprocess

import (
	"fmt"
	"math"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/kit/numbers"
)

const (
	moveBeyond = 0.05    // an end of the window moves when it is wrong by more than this fraction of the window's width
	maxSamples = 1 << 15 // pixels sampled for a frame's percentiles; the sample may be up to twice as large
)

// running is a slow robust grey window. It averages percentiles of each frame over acquisition time with a half-life. The applied window, low to high, changes
// only when the average differs from it by moveBeyond, so its noise does not change pixels.
type running struct {
	options           runningOptions
	low, high         float64 // the applied window
	meanLow, meanHigh float64
	count, moves      uint64 // frames averaged; moves of the window, without the first setting
	last              time.Time
	samples           []float32
}

// fold averages one frame's percentiles and reports whether the applied window was set or moved. With the half-life h,
//
//	mean ← mean + g (x - mean),   g = max(1 - 2^(-Δt/h), 1/n)
//
// so it is the plain mean until h has passed.
func (r *running) fold(low, high float64, t time.Time) bool {
	dt := max(0, t.Sub(r.last).Seconds())
	r.last = t
	r.count++
	gain := max(1-math.Exp2(-dt/r.options.HalfLife.Seconds()), 1/float64(r.count))
	if r.count == 1 {
		gain = 1
	}
	r.meanLow += gain * (low - r.meanLow)
	r.meanHigh += gain * (high - r.meanHigh)
	limit := moveBeyond * (r.high - r.low)
	if r.count > 1 && math.Abs(r.meanLow-r.low) <= limit && math.Abs(r.meanHigh-r.high) <= limit {
		return false
	}
	if r.count > 1 {
		r.moves++
	}
	r.low, r.high = r.meanLow, r.meanHigh
	return true
}

// percentiles returns the low and high percentile of an evenly spread sample of m's values. They coincide if the object covers less of the picture than the
// percentiles exclude. Then it returns the sample's smallest and largest value instead, which are equal only in a blank frame.
func (r *running) percentiles(m *gocv.Mat) (low, high float64, err error) {
	if err := r.sample(m); err != nil {
		return 0, 0, err
	}
	n := len(r.samples)
	rank := func(percent float64) int { return int(math.Round(percent / 100 * float64(n-1))) }
	low, high = float64(numbers.Nth(r.samples, rank(r.options.Low))), float64(numbers.Nth(r.samples, rank(r.options.High)))
	if low == high {
		low, high = float64(numbers.Nth(r.samples, 0)), float64(numbers.Nth(r.samples, n-1))
	}
	return low, high, nil
}

// sample fills r.samples with evenly spaced values. The spacing is odd, to avoid sampling only some of a sensor's columns.
func (r *running) sample(m *gocv.Mat) error {
	every := 1
	if n := m.Total() * m.Channels(); n > maxSamples {
		every = n/maxSamples | 1
	}
	r.samples = r.samples[:0]
	var err error
	switch depth(m) {
	case gocv.MatTypeCV8U:
		var v []uint8
		v, err = m.DataPtrUint8()
		r.samples = spread(r.samples, v, every)
	case gocv.MatTypeCV16U:
		var v []uint16
		v, err = m.DataPtrUint16()
		r.samples = spread(r.samples, v, every)
	case gocv.MatTypeCV32F:
		var v []float32
		v, err = m.DataPtrFloat32()
		r.samples = spread(r.samples, v, every)
	default:
		err = fmt.Errorf("found %s pixels, expected uint8, uint16 or float32", depthName(depth(m)))
	}
	return err
}

func spread[T uint8 | uint16 | float32](dst []float32, v []T, every int) []float32 {
	for i := 0; i < len(v); i += every {
		dst = append(dst, float32(v[i]))
	}
	return dst
}
