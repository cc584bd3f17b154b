package illumination

import (
	"math"
	"strings"

	"driftscope/internal/kit/numbers"
)

// Form selects the terms of a film's changing light.
type Form struct {
	Gain       bool // g; otherwise g = 1
	Plane      bool // a and b; otherwise 0
	Interlaced bool // odd rows have their own light
}

// String lists the changing terms for messages.
func (f Form) String() string {
	changes := []string{"offset"}
	if f.Gain {
		changes = append(changes, "gain")
	}
	if f.Plane {
		changes = append(changes, "slope")
	}
	of := "of the picture"
	if f.Interlaced {
		of = "of even and of odd rows"
	}
	return strings.Join(changes, ", ") + " " + of
}

// Light is the light in the rows of one field: x = Gain B + Offset + AlongX X + AlongY Y.
type Light struct{ Gain, Offset, AlongX, AlongY float64 }

// Added returns the added light at a position of the picture.
func (l *Light) Added(x, y float64) float64 { return l.Offset + l.AlongX*x + l.AlongY*y }

// Model is a form with its reference.
type Model struct {
	Form      Form
	Reference []float32 // B, a thumbnail
	Scale     float64   // scale of the residuals of matching frames under Student's t
}

// MaxGain bounds the ratio of a lamp's brightness to the reference, and its inverse. At this bound an 8-bit picture has 8 levels left.
const MaxGain = 32

// Fitter fits one frame after another. Use it from one goroutine.
type Fitter struct {
	model  *Model
	fields []field // one for all rows, or one each for even and odd rows
}

// NewFitter prepares the fits to a model's reference.
func NewFitter(m *Model) *Fitter { return newFitter(m, func(int) bool { return true }) }

// newFitter prepares fits that use only the boxes that seen accepts.
func newFitter(m *Model, seen func(box int) bool) *Fitter {
	f := &Fitter{model: m}
	count := 1
	if m.Form.Interlaced {
		count = 2
	}
	for k := range count {
		var boxes []int
		for box := k * Size / count; box < (k+1)*Size/count; box++ {
			if seen(box) {
				boxes = append(boxes, box)
			}
		}
		f.fields = append(f.fields, newField(m, boxes))
	}
	return f
}

// Fit returns the light of one frame, for even and odd rows, and the spread of the residuals.
func (f *Fitter) Fit(thumbnail []float32) (light [2]Light, spread float64) {
	for k := range f.fields {
		one := &f.fields[k]
		spread += one.fit(f.model.Reference, thumbnail) / float64(len(f.fields))
		light[k] = one.light(f.model.Form)
	}
	if len(f.fields) == 1 {
		light[1] = light[0]
	}
	return light, spread
}

// maxTerms counts 1, B, X and Y.
const maxTerms = 4

// field is a set of rows with the same light.
type field struct {
	boxes   []int               // indices of its boxes in the thumbnail
	mean    float64             // mean of B over its boxes
	basis   [][maxTerms]float64 // per box: 1, then B - mean, X and Y if the form selects them
	terms   int
	norms   [maxTerms]float64 // root mean square of each basis term
	fitted  [maxTerms]float64 // coefficients of frame - B
	change  []float64         // frame - B
	left    []float64         // residuals
	sizes   []float64         // scratch
	weights []float64
}

func newField(m *Model, boxes []int) field {
	n := len(boxes)
	f := field{boxes: boxes, terms: 1, change: make([]float64, n), left: make([]float64, n), sizes: make([]float64, n), weights: make([]float64, n)}
	for _, box := range boxes {
		f.mean += float64(m.Reference[box]) / float64(n)
	}
	for _, box := range boxes {
		row, terms := [maxTerms]float64{1}, 1
		if m.Form.Gain { // uses B minus its mean, because the offset explains the mean
			row[terms] = float64(m.Reference[box]) - f.mean
			terms++
		}
		if m.Form.Plane {
			row[terms], row[terms+1] = place(box)
			terms += 2
		}
		f.basis, f.terms = append(f.basis, row), terms
	}
	for i := range f.terms {
		for k := range f.basis {
			f.norms[i] += f.basis[k][i] * f.basis[k][i] / float64(n)
		}
		f.norms[i] = math.Sqrt(f.norms[i])
	}
	return f
}

// place returns the position of a box's centre, in units of the picture from -½ to ½.
func place(box int) (x, y float64) {
	return (float64(box%Side)+0.5)/Side - 0.5, (float64(box/Side%(Side/2))+0.5)/(Side/2) - 0.5
}

// light converts the fitted coefficients to a Light.
func (f *field) light(form Form) Light {
	l, rest := Light{Gain: 1, Offset: f.fitted[0]}, f.fitted[1:]
	if form.Gain {
		l.Gain, l.Offset, rest = 1+rest[0], l.Offset-rest[0]*f.mean, rest[1:]
	}
	if form.Plane {
		l.AlongX, l.AlongY = rest[0], rest[1]
	}
	return l
}

const (
	rounds    = 8     // largest number of rounds of weights and coefficients
	settled   = 1e-2  // fraction of the residuals' spread; a round that changes the light by less is the last
	cauchy    = 2.385 // standard deviations at which a residual has half weight, for an efficiency of 95 % under normal noise
	undecided = 1e-6  // fraction of a term's square that is added to it, so a term that cannot be separated from other terms stays 0
)

// fit computes the coefficients and residuals by reweighted least squares (Holland and Welsch 1977), and returns the
// residuals' spread.
func (f *field) fit(reference, thumbnail []float32) (spread float64) {
	for k, box := range f.boxes {
		f.change[k], f.weights[k] = float64(thumbnail[box])-float64(reference[box]), 1
	}
	for round := range rounds {
		before := f.fitted
		f.solve()
		spread = f.spread()
		if spread == 0 || round > 0 && f.moved(&before) < settled*spread { // 0 if most of the picture fits exactly
			break
		}
		for i, v := range f.left {
			r := v / (cauchy * spread)
			f.weights[i] = 1 / (1 + r*r)
		}
	}
	return spread
}

// solve computes the coefficients for the weights, and the residuals.
func (f *field) solve() {
	var normal [maxTerms][maxTerms + 1]float64 // upper triangle and right-hand side
	for k := range f.basis {
		row := &f.basis[k]
		for i := range f.terms {
			v := f.weights[k] * row[i]
			for j := i; j < f.terms; j++ {
				normal[i][j] += v * row[j]
			}
			normal[i][maxTerms] += v * f.change[k]
		}
	}
	f.fitted = eliminate(&normal, f.terms)
	for k := range f.basis {
		left := f.change[k]
		for i, v := range f.basis[k][:f.terms] {
			left -= v * f.fitted[i]
		}
		f.left[k] = left
	}
}

// eliminate solves normal equations of n terms, given their upper triangle and right-hand side.
func eliminate(normal *[maxTerms][maxTerms + 1]float64, n int) (x [maxTerms]float64) {
	for i := range n {
		normal[i][i] *= 1 + undecided
		for j := range i {
			normal[i][j] = normal[j][i]
		}
	}
	for i := range n {
		for j := i + 1; j < n && normal[i][i] != 0; j++ {
			share := normal[j][i] / normal[i][i]
			for k := i; k <= maxTerms; k++ {
				normal[j][k] -= share * normal[i][k]
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		if normal[i][i] == 0 {
			continue
		}
		x[i] = normal[i][maxTerms]
		for k := i + 1; k < n; k++ {
			x[i] -= normal[i][k] * x[k]
		}
		x[i] /= normal[i][i]
	}
	return x
}

// moved returns a bound on the root mean square change of the light over boxes.
func (f *field) moved(before *[maxTerms]float64) (sum float64) {
	for i := range f.terms {
		sum += math.Abs(f.fitted[i]-before[i]) * f.norms[i]
	}
	return sum
}

// spread returns the standard deviation of normal noise whose median magnitude equals the residuals'.
func (f *field) spread() float64 {
	const normal = 1.4826
	for i, v := range f.left {
		f.sizes[i] = math.Abs(v)
	}
	return normal * numbers.Median(f.sizes)
}
