// The picture
//
// A picture x of h × w pixels is the sum of background, spots and the camera's noise,
//
//	x(p) = b(p) + Σₖ aₖ T(p - placeₖ) + noise,    var noise(p) = read + gain · mean(p)
//
// with a Gaussian template T of sd s and height 1. Pictures of dark spots are negated first. Positions are in px; (0, 0) is the centre of the first pixel.

package locate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
	"driftscope/internal/kit/numbers"
)

// Spot is one object that matches the template.
type Spot struct {
	X, Y       float64 // px
	Amplitude  float64 // height at the centre above the background, grey levels
	Score      float64 // amplitude over its standard deviation: N(0, 1) without a spot
	VarX, VarY float64 // variances of the position, px²
}

// Options describe the spots to find.
type Options struct {
	SD        float64 // sd of the template, px
	Dark      bool    // spots are darker than their surroundings
	Threshold float64 // smallest score of a spot
	Max       int     // largest number of spots per frame, smaller for a wide template; surplus spots are dropped, lowest score first
}

// The defaults and bounds of Options.
const (
	DefaultThreshold = 3.0
	DefaultMax       = 4096
	LeastSD, MostSD  = 0.5, 32.0
	MostMax          = 1 << 16
)

// mostFitted bounds the number of pixels in all templates together, and thus the time for a picture full of wide spots. It allows 4096 spots of sd 7.8 px, or
// 242 of 32 px.
const mostFitted = 1 << 23

// Locator finds the spots of pictures of one size.
type Locator struct {
	h, w       int
	o          Options
	lanes      kernel.Lanes
	template   *template
	filter     *kernel.Filter
	background *background
	meter      *noiseMeter
	noise      Noise     // noise of the picture, including its texture
	texture    float64   // sd of the filtered picture without spots, in sds of the camera's noise
	camera     Noise     // noise of the camera without texture
	negative   []float32 // negative of a picture of dark objects
	sample     []float32 // scratch
	changes    *changes

	field      kernel.Field // residual after all spots
	spots      []spot
	grid       numbers.Grid
	peaks      []int32 // indices of pixels that are local maxima
	halved     []int32 // spots split in the last round
	longs      []long  // spots that may be pairs
	ownLength  float64 // elongation that a single spot may have from its own shape, as a fraction of its amplitude
	shaped     bool    // ownLength is set for this picture
	seeds      []seed
	cluster    cluster
	lasts      []int32
	patch, lit kernel.Patch   // scratch
	moments    kernel.Moments // scratch
	left       int            // spots dropped beyond Max in the last picture
}

// seed is a maximum of the matched filter.
type seed struct {
	x, y int32
	z    float32
}

// The grid's cells have sides of at least cell px and cellSDs sds of the template, so a search around a spot seldom needs more than four cells.
const cell, cellSDs = 8, 6

// New returns a Locator for pictures of h × w pixels.
func New(h, w int, o Options) (*Locator, error) {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	switch {
	case !(o.SD >= LeastSD && o.SD <= MostSD):
		return nil, fmt.Errorf("the template's sd is %g px, expected %g to %g", o.SD, LeastSD, MostSD)
	case !(o.Threshold > 0) || math.IsInf(o.Threshold, 0):
		return nil, fmt.Errorf("the threshold is %g, expected a positive number of standard deviations", o.Threshold)
	case o.Max < 1 || o.Max > MostMax:
		return nil, fmt.Errorf("the largest number of spots is %d, expected 1 to %d", o.Max, MostMax)
	}
	o.Max = min(o.Max, mostFitted/int(4*patchReach*patchReach*o.SD*o.SD))
	t, lanes := newTemplate(o.SD), kernel.Widest()
	if least := 2*t.reach + 1; h < least || w < least {
		return nil, fmt.Errorf("the picture of %dx%d pixels is smaller than a template of %dx%d", w, h, least, least)
	}
	residual := kernel.NewPicture(h, w)
	return &Locator{h: h, w: w, o: o, lanes: lanes, template: t, filter: kernel.NewFilter(residual, t.taps), background: newBackground(lanes, h, w, o.SD),
		meter: &noiseMeter{lanes: lanes}, changes: newChanges(h, w), field: kernel.Field{Residual: residual, Narrow: float32(1 / o.SD)},
		grid: numbers.NewGrid(float64(w), float64(h), max(cell, cellSDs*o.SD))}, nil
}

// Locate appends the picture's spots to dst, highest score first. It does not change the picture, whose values must be finite.
func (l *Locator) Locate(dst []Spot, picture []float32) []Spot {
	l.begin(picture)
	l.fit()

	l.field.Picture = nil
	return l.give(dst)
}

// begin estimates the noise and background of a picture.
func (l *Locator) begin(picture []float32) {
	l.camera = l.meter.of(kernel.Picture{Pixels: picture, Width: l.w, Height: l.h})
	if l.o.Dark {
		picture = l.negate(picture)
	}
	pixels := kernel.Picture{Pixels: picture, Width: l.w, Height: l.h}
	l.background.update(pixels, l.camera)
	l.background.subtract(l.field.Residual, pixels)
	l.changes.mark(kernel.Area{X1: l.w, Y1: l.h}, 0)
	l.spots, l.field.Picture = l.spots[:0], picture
	l.ownLength, l.shaped = 0, false
	l.rescale(1)
}

// negate returns the negative of the picture. It also reverses the sign of the noise's gain, because noise grows with the light.
func (l *Locator) negate(picture []float32) []float32 {
	if l.negative == nil {
		l.negative = make([]float32, len(picture))
	}
	for i, v := range picture {
		l.negative[i] = -v
	}
	l.camera.Gain = -l.camera.Gain
	return l.negative
}

// Left returns the number of spots in the last picture that were dropped because of Max.
func (l *Locator) Left() int { return l.left }

// Noise returns the noise of the last picture.
func (l *Locator) Noise() Noise { return l.noise }

// SD returns the sd of the template.
func (l *Locator) SD() float64 { return l.template.sd }

// Residual returns the last picture minus background and spots. The slice is valid until the next picture.
func (l *Locator) Residual() []float32 { return l.field.Residual.Pixels }

// give appends the spots whose score reaches the threshold.
func (l *Locator) give(dst []Spot) []Spot {
	from := len(dst)
	for i := range l.spots {
		s := &l.spots[i]
		if s.score >= l.o.Threshold && s.a > 0 {
			dst = append(dst, Spot{X: s.x, Y: s.y, Amplitude: s.a, Score: s.score, VarX: s.varX, VarY: s.varY})
		}
	}
	slices.SortFunc(dst[from:], func(a, b Spot) int {
		return cmp.Compare(b.Score, a.Score)
	})
	beyond := max(0, len(dst)-from-l.o.Max)
	l.left += beyond
	return dst[:len(dst)-beyond]
}
