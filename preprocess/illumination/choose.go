package illumination

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Choice is the result of Choose.
type Choice struct {
	Model *Model  // nil if a steady lamp predicts equally well
	Nats  float64 // per frame: gain of log likelihood, in predicting parts of pictures, over a steady lamp
}

// Choose finds the form and the reference with which the light in one part of a picture best predicts the other parts. This separates a lamp, which lights all
// parts, from an object, which is in one part. Choose fits the light to one part of the boxes and evaluates the other part under Student's t, whose tails cover
// the objects. Each fitted number per frame costs ½ ln Size nats (Schwarz 1978). The remaining gain must exceed twice its standard error over frames. If most
// of the change remains in most boxes, the whole picture changes by itself, and a lamp cannot be separated.
func Choose(thumbnails [][]float32) (best Choice) {
	thumbnails = spreadOut(thumbnails, maxChosenFrom)
	steady := median(thumbnails)
	floor := max(leastScale*span(thumbnails), math.SmallestNonzeroFloat32)
	baseline, changes := judge(thumbnails, &Model{Reference: steady}, floor, false)
	for _, form := range forms() {
		m := learn(thumbnails, form)
		nats, scale := judge(thumbnails, m, floor, true)
		for i := range nats {
			nats[i] -= baseline[i] + form.price()
		}
		gain, sd := stat.MeanStdDev(nats, nil)
		if left := scale * scale / (changes * changes); left > mostLeft {
			continue
		}
		if gain > best.Nats && gain > 2*sd/math.Sqrt(float64(len(nats))) {
			m.Scale = scale
			best = Choice{m, gain}
		}
	}
	return best
}

// spreadOut returns at most n of the thumbnails, evenly spread.
func spreadOut(thumbnails [][]float32, n int) [][]float32 {
	if len(thumbnails) <= n {
		return thumbnails
	}
	some := make([][]float32, n)
	for i := range some {
		some[i] = thumbnails[i*(len(thumbnails)-1)/(n-1)]
	}
	return some
}

const (
	maxChosenFrom = 100  // largest number of frames used; the error of the mean gain is then a tenth of the gain's spread
	learnRounds   = 3    // rounds of fitting the reference and the light of every frame; the third changes the light by less than its error
	leastScale    = 1e-3 // fraction of the film's range below which changes are invisible
	mostLeft      = 0.5  // fraction of a box's variance left after a lamp: 0.00 to 0.49 in nine films, 0.88 or more if the whole picture changes (three films)
)

// forms returns the candidate forms.
func forms() (all []Form) {
	for _, interlaced := range []bool{false, true} {
		for _, f := range []Form{{}, {Gain: true}, {Plane: true}, {Gain: true, Plane: true}} {
			f.Interlaced = interlaced
			all = append(all, f)
		}
	}
	return all
}

// price returns the cost of the fitted light of one frame, nats.
func (f Form) price() float64 {
	numbers := 1.0
	if f.Gain {
		numbers++
	}
	if f.Plane {
		numbers += 2
	}
	if f.Interlaced {
		numbers *= 2
	}
	return numbers * math.Log(Size) / 2
}

// learn fits the reference and the light of every frame in turn, starting with the median frame as reference.
func learn(thumbnails [][]float32, form Form) *Model {
	m := &Model{Form: form, Reference: median(thumbnails)}
	even := make([][]float32, len(thumbnails))
	for range learnRounds {
		f := NewFitter(m)
		for i, t := range thumbnails {
			light, _ := f.Fit(t)
			even[i] = evened(t, light)
		}
		m.Reference = median(even)
	}
	return m
}

// evened returns a thumbnail from which the light was removed.
func evened(thumbnail []float32, light [2]Light) []float32 {
	out := make([]float32, Size)
	for box, v := range thumbnail {
		l := &light[box/(Size/2)]
		x, y := place(box)
		out[box] = float32((float64(v) - l.Added(x, y)) / max(l.Gain, 1./MaxGain))
	}
	return out
}

// span returns the range of a film's values.
func span(thumbnails [][]float32) float64 {
	low, high := thumbnails[0][0], thumbnails[0][0]
	for _, t := range thumbnails {
		low, high = min(low, slices.Min(t)), max(high, slices.Max(t))
	}
	return float64(high - low)
}

// median returns the median of each box.
func median(thumbnails [][]float32) []float32 {
	out, values := make([]float32, Size), make([]float32, len(thumbnails))
	for box := range out {
		for i, t := range thumbnails {
			values[i] = t[box]
		}
		slices.Sort(values)
		out[box] = values[len(values)/2]
	}
	return out
}

// judge returns each frame's log likelihood of all boxes, averaged over the ways to split the boxes in two parts. The light fitted to one part predicts the
// boxes of the other part. If fitted is false, the lamp is steady and no light is fitted. scale is the scale of Student's t.
func judge(thumbnails [][]float32, m *Model, floor float64, fitted bool) (nats []float64, scale float64) {
	ways := parts()
	nats = make([]float64, len(thumbnails))
	for _, part := range ways {
		f, left := newFitter(m, part), make([][]float64, len(thumbnails))
		for i, t := range thumbnails {
			light := [2]Light{{Gain: 1}, {Gain: 1}}
			if fitted {
				light, _ = f.Fit(t)
			}
			for box, v := range t {
				if !part(box) {
					x, y := place(box)
					l := &light[box/(Size/2)]
					left[i] = append(left[i], float64(v)-l.Added(x, y)-l.Gain*float64(m.Reference[box]))
				}
			}
		}
		s := studentScale(slices.Concat(left...), floor)
		for i, one := range left {
			nats[i] += 2 * student(one, s) / float64(len(ways))
		}
		scale += s / float64(len(ways))
	}
	return nats, scale
}

// parts returns ways to split a picture in two parts: left and right half, upper and lower half, and a 4 x 4 checkerboard. Each occurs twice, with the parts
// exchanged.
func parts() (all []func(box int) bool) {
	const square = Side / 4
	for _, first := range []func(x, y int) bool{
		func(x, y int) bool { return x < Side/2 },
		func(x, y int) bool { return y < Side/2 },
		func(x, y int) bool { return (x/square+y/square)%2 == 0 },
	} {
		seen := func(box int) bool { return first(box%Side, box/Side%(Side/2)*2) }
		all = append(all, seen, func(box int) bool { return !seen(box) })
	}
	return all
}

// freedom is the number of degrees of freedom of Student's t. Its tails, which fall with the third power, cover objects of a few boxes.
const freedom = 3.0

// studentScale returns the scale of residuals under Student's t, at least floor, by expectation and maximisation (Lange,
// Little and Taylor 1989).
func studentScale(left []float64, floor float64) float64 {
	const rounds = 20
	n := float64(len(left))
	var squares float64
	for _, v := range left {
		squares += v * v / n
	}
	squares = max(squares, floor*floor)
	for range rounds {
		var sum float64
		for _, v := range left {
			sum += v * v * (freedom + 1) / (freedom + v*v/squares)
		}
		squares = max(sum/n, floor*floor)
	}
	return math.Sqrt(squares)
}

// student returns the log likelihood of residuals under Student's t of the given scale.
func student(left []float64, scale float64) (nats float64) {
	constant := math.Log(2 / (math.Pi * math.Sqrt(freedom) * scale)) // Γ(2) / (Γ(3/2) √(3π) scale)
	for _, v := range left {
		nats += constant - (freedom+1)/2*math.Log1p(v*v/(freedom*scale*scale))
	}
	return nats
}
