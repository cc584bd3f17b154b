package video

import (
	"slices"

	"driftscope/infer/sdevae/numeric"
)

const (
	maxSteps  = 8  // largest number of steps removed, one after another
	shortSide = 10 // smallest number of frames on either side of a step; with fewer, it may be an object that appears or disappears
)

// WithoutSteps returns a copy of the clip without steps of still parts. If dust has moved, or a spot has bleached, pixels have one level before some frame and
// another level from that frame on. Pixels have a step if the rest of their change is a share of less than share.leastLayer, if they make the step from one
// frame to the next, and if they have more than this share of the whole clip's change. at lists the frames of the steps, in order. If there are no steps,
// WithoutSteps returns the clip itself.
func (c *Clip) WithoutSteps() (level *Clip, at []int) {
	level = c
	for range maxSteps {
		frame := level.step()
		if frame == 0 {
			break
		}
		at = append(at, frame)
		slices.Sort(at)
		level = c.levelled(at)
	}
	return level, at
}

// step returns the frame of the largest step, or 0 if there is none.
func (c *Clip) step() (at int) {
	n, all := c.Len(), 0.0
	most := make([]float64, n)        // share of the energy in pixels with a step, per frame
	stepped := make(map[int][]int, n) // these pixels
	for p := range c.Size() {
		mean, energy := c.course(p)
		all += energy
		var sum float64
		for f := 1; f < n; f++ {
			sum += float64(c.Frame(f - 1)[p]) - mean
			held := sum * sum * float64(n) / float64(f*(n-f)) // energy explained by one level before frame f and another from f on
			if min(f, n-f) >= shortSide && held > nearlyAll(energy) {
				most[f] += held
				stepped[f] = append(stepped[f], p)
			}
		}
	}
	for f, held := range most {
		if held > most[at] {
			at = f
		}
	}
	if !(most[at] > numeric.LeastLayer*all) || !c.sudden(at, stepped[at]) {
		return 0
	}
	return at
}

// nearlyAll returns an amount minus the share share.leastLayer of it.
func nearlyAll(amount float64) float64 { return (1 - numeric.LeastLayer) * amount }

// sudden reports whether pixels make nearly all of their step from one frame to the next. With a moving object the change is gradual.
func (c *Clip) sudden(at int, pixels []int) bool {
	var gone, whole float64
	for _, p := range pixels {
		step := c.meanOf(p, at, c.Len()) - c.meanOf(p, 0, at)
		gone += step * float64(c.Frame(at)[p]-c.Frame(at - 1)[p])
		whole += step * step
	}
	return gone > nearlyAll(whole)
}

// levelled returns a copy of the clip. Pixels that hardly change except at the given frames have their mean level throughout.
func (c *Clip) levelled(at []int) *Clip {
	level := *c
	level.Pixels = slices.Clone(c.Pixels)
	ends := append(slices.Clone(at), c.Len())
	for p := range c.Size() {
		mean, energy := c.course(p)
		var held float64
		for i, from := range append([]int{0}, at...) {
			own := c.meanOf(p, from, ends[i]) - mean
			held += float64(ends[i]-from) * own * own
		}
		if !(held > nearlyAll(energy)) {
			continue
		}
		for i, from := range append([]int{0}, at...) {
			own := c.meanOf(p, from, ends[i])
			for f := from; f < ends[i]; f++ {
				level.Frame(f)[p] += float32(mean - own)
			}
		}
	}
	return &level
}

// course returns a pixel's mean, and the sum of its squared deviations from it.
func (c *Clip) course(p int) (mean, energy float64) {
	mean = c.meanOf(p, 0, c.Len())
	for f := range c.Len() {
		d := float64(c.Frame(f)[p]) - mean
		energy += d * d
	}
	return mean, energy
}

// meanOf returns a pixel's mean over the frames [from, to).
func (c *Clip) meanOf(p, from, to int) (mean float64) {
	for f := from; f < to; f++ {
		mean += float64(c.Frame(f)[p]) / float64(to-from)
	}
	return mean
}
