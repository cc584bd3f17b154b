//go:build cgo

package recording

import (
	"math"
	"slices"

	"driftscope/infer/sdevae/numeric"
)

// A survey samples valuesAFrame values per frame, always at the same positions, and at most maxValues in total.
const (
	valuesAFrame = 2048
	maxValues    = 1 << 20
)

// values is an even sample of a recording's pixel values, and of their changes from frame to frame.
type values struct {
	seen, changes []float32 // of every stride-th pixel, frame after frame
	stride        int
	frames        int
	size, step    int       // values per frame, and step between positions
	sum           []float64 // per position
	previous      []float32
}

// add includes a frame's values, unless their number differs from the first frame's. The step between positions is odd and no multiple of three, so that
// they cover all channels and most columns.
func (v *values) add(all []float32) {
	if v.frames == 0 {
		v.size, v.stride, v.step = len(all), 1, max(len(all)/valuesAFrame, 1)|1
		if v.step%3 == 0 {
			v.step += 2
		}
		v.sum = make([]float64, (len(all)+v.step-1)/v.step)
	}
	if len(all) != v.size {
		return
	}
	n := len(v.sum)
	if len(v.seen)+n > maxValues {
		v.thin()
	}
	now := make([]float32, n)
	for i := range now {
		now[i] = all[i*v.step]
		v.sum[i] += float64(now[i])
	}
	if v.frames%v.stride == 0 {
		v.seen = append(v.seen, now...)
		for i, before := range v.previous {
			v.changes = append(v.changes, now[i]-before)
		}
	}
	v.previous, v.frames = now, v.frames+1
}

// thin removes every second frame, and doubles the stride for future frames.
func (v *values) thin() {
	n := len(v.sum)
	every := func(all []float32, from int) []float32 {
		kept := all[:0]
		for at := from; at < len(all); at += 2 * n {
			kept = append(kept, all[at:at+n]...)
		}
		return kept
	}
	v.seen, v.changes = every(v.seen, 0), every(v.changes, n) // the first frame has no change
	v.stride *= 2
}

// window returns the range of grey values, within the extremes low and high. If the full range is more than spiky times the range between the tails,
// it leaves out the spikes. For pictures that are almost only noise it returns the range of the mean picture plus reach standard deviations of the
// noise on either side, estimated by the median for normal noise. Values outside carry little information and would widen the range much.
func (v *values) window(low, high float64, lowSNR bool) (float64, float64) {
	if noise := v.noise(); lowSNR && noise > 0 {
		dark, bright := slices.Min(v.sum)/float64(v.frames), slices.Max(v.sum)/float64(v.frames)
		return max(low, dark-reach*noise), min(high, bright+reach*noise)
	}
	sorted := slices.Sorted(slices.Values(v.seen))
	cut := int(tail * float64(len(sorted)))
	first, last := float64(sorted[cut]), float64(sorted[len(sorted)-1-cut])
	if last > first && high-low > spiky*(last-first) {
		return first, last
	}
	return low, high
}

const (
	spiky = 3
	reach = 4
)

// noise returns the standard deviation of the values' noise, or 0 if most values do not change.
func (v *values) noise() float64 {
	if len(v.changes) == 0 {
		return 0
	}
	sizes := make([]float64, len(v.changes))
	for i, c := range v.changes {
		sizes[i] = math.Abs(float64(c))
	}
	return numeric.NormalSD(sizes, math.Sqrt2)
}

// hue separates the colour of objects from noise. It multiplies the differences between channels in consecutive frames.
type hue struct {
	previous        []float32
	product, square float64
}

// add includes a frame's values, three per pixel.
func (h *hue) add(all []float32) {
	for i, before := range h.previous {
		other := i - 1 // of the same pixel
		if i%3 == 0 {
			other = i + 2
		}
		p := float64(all[i]-all[other]) * float64(before-h.previous[other])
		h.product += p
		h.square += p * p
	}
	h.previous = all
}

// lasts reports whether colours persist from frame to frame, by 5 standard errors more than white noise.
func (h *hue) lasts() bool { return h.product > 5*math.Sqrt(h.square) }
