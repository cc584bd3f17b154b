package locate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
	"driftscope/internal/kit/numbers"
)

// Spot is one object that looks like the template.
type Spot struct {
	X, Y       float64 // px
	Amplitude  float64 // above the background, in the middle, grey levels
	Score      float64 // the amplitude over its standard deviation: N(0, 1) where nothing is
	VarX, VarY float64 // of the place, px²
}

// Options say what is looked for.
type Options struct {
	SD        float64 // of the template, px
	Dark      bool    // spots are darker than what is around them
	Threshold float64 // the least score of a spot
	Max       int     // spots a frame, fewer of a wide template; beyond it those of the least scores are left out
}

// The defaults and bounds of Options.
const (
	DefaultThreshold = 3.0
	DefaultMax       = 4096
	LeastSD, MostSD  = 0.5, 32.0
	MostMax          = 1 << 16
)

// mostFitted bounds the pixels of all spots' templates together, and so the time of a picture that is full of wide spots: 4096 spots of an sd of 7.8 px, 242 of 32 px.
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
	noise      Noise     // of the picture, and of its texture
	texture    float64   // sd of the filtered picture where nothing is, in sds of the camera's noise
	camera     Noise     // of the picture alone
	negative   []float32 // the picture of dark objects
	sample     []float32 // scratch
	changes    *changes

	field      kernel.Field // of its residual: what no spot explains
	spots      []spot
	grid       numbers.Grid
	peaks      []int32 // pixels that are maxima
	halved     []int32 // spots that split last
	longs      []long  // spots that may be two
	ownLength  float64 // how much longer than the template a single spot may be by its own shape, in parts of its amplitude
	shaped     bool    // ownLength is this picture's
	seeds      []seed
	cluster    cluster
	lasts      []int32
	patch, lit kernel.Patch   // scratch
	moments    kernel.Moments // scratch
	left       int            // spots beyond Max, of the last picture
}

// seed is a maximum of the matched filter.
type seed struct {
	x, y int32
	z    float32
}

// cell and cellSDs are the least side of the cells that spots are kept in, px and sds of the template: hardly a spot has to look into more than four.
const cell, cellSDs = 8, 6

// New is a locator of spots in pictures of h × w pixels.
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
		return nil, fmt.Errorf("at most %d spots were asked for, expected 1 to %d", o.Max, MostMax)
	}
	o.Max = min(o.Max, mostFitted/int(4*patchReach*patchReach*o.SD*o.SD))
	t, lanes := newTemplate(o.SD), kernel.Widest()
	if least := 2*t.reach + 1; h < least || w < least {
		return nil, fmt.Errorf("pictures of %dx%d are smaller than a template of %dx%d", w, h, least, least)
	}
	residual := kernel.NewPicture(h, w)
	return &Locator{h: h, w: w, o: o, lanes: lanes, template: t, filter: kernel.NewFilter(residual, t.taps), background: newBackground(lanes, h, w, o.SD),
		meter: &noiseMeter{lanes: lanes}, changes: newChanges(h, w), field: kernel.Field{Residual: residual, Narrow: float32(1 / o.SD)},
		grid: numbers.NewGrid(float64(w), float64(h), max(cell, cellSDs*o.SD))}, nil
}

// Locate appends the picture's spots to dst, the highest score first. The picture is read only, and its values are finite.
func (l *Locator) Locate(dst []Spot, picture []float32) []Spot {
	l.begin(picture)
	l.fit()

	l.field.Picture = nil
	return l.give(dst)
}

// begin takes noise and background of a picture.
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

// negate gives the picture with dark for bright, and turns the noise, which grows with the light.
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

// Left is how many spots of the last picture were left out for want of room.
func (l *Locator) Left() int { return l.left }

// Noise is the last picture's.
func (l *Locator) Noise() Noise { return l.noise }

// SD is the template's.
func (l *Locator) SD() float64 { return l.template.sd }

// Residual lends the last picture less background and spots, until the next one.
func (l *Locator) Residual() []float32 { return l.field.Residual.Pixels }

// give appends what is a spot by its own score.
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
