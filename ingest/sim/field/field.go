// Package field simulates fields of many spots with known tracks, after the published description of the ISBI particle tracking challenge (Chenouard
// et al., Nature Methods 11, 281, 2014): spots of a Gaussian point spread function, integrated over pixels, on an even background, under Poisson noise.
//
// SNR is (peak - background)/√peak, the peak a pixel's that the middle of a spot of full light, in focus, lies in. Places are pixels, whole numbers at
// pixels' middles. Objects are born and die at random, at rates that keep the density; those that leave the picture have died.
//
//	motion.go  lives: where an object is, and how bright        ──► Field   a film whose truth is known before it is drawn
//	optics.go  light: what an object adds to the pixels about it ──► Stream  the same lives, drawn as they come, without end where so wished
package field

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/ingest/sim"
)

// Scenario is how objects move and shine.
type Scenario string

// The scenarios. Those from Bleaching on are Brownian, sd of a step 1 px an axis.
const (
	Vesicle   Scenario = "vesicle"   // Brownian, sd of a step 1 to 3 px an axis, uniform over objects
	Receptor  Scenario = "receptor"  // switches between Brownian, sd 1 px, and directed, 2 to 4 px a frame, 0.05 a frame each way
	Directed  Scenario = "directed"  // 2 to 5 px a frame, with angular noise of 0.1 rad
	Trapped   Scenario = "trapped"   // Ornstein-Uhlenbeck about where it was born, 0.1 a frame, sd of a step 1 px
	Bleaching Scenario = "bleaching" // light falls as exp(-age / 60 frames); gone at a tenth
	Blinking  Scenario = "blinking"  // goes dark with 0.05 a frame, for 3 frames on average; moves on in the dark
	Crowded   Scenario = "crowded"   // three quarters are born about hot spots, sd 12 px, one for every 128x128 px of the picture
	Focus     Scenario = "focus"     // also along z, within 12 px of the focus; the spot widens, its light stays
)

// Scenarios lists them.
var Scenarios = []Scenario{Vesicle, Receptor, Directed, Trapped, Bleaching, Blinking, Crowded, Focus}

// Options describe a field.
type Options struct {
	Scenario      Scenario
	Density       int     // objects in a picture
	SNR           float64 // see the package
	Width, Height int     // px
	Frames        int     // of a Stream also 0: endless
	Seed          uint64
	SD            float64 // of the point spread function in focus, px; 1.4
	Background    float64 // photons a pixel; 10
	Life          float64 // mean, frames; 30, and 60 that of Bleaching's light
}

// Bounds of a field: a picture is at most an sCMOS camera's, and its brightest spot stays within 16 bits.
const (
	mostSide    = 1 << 12
	mostObjects = 20_000
	mostSNR     = 200
	mostFrames  = 1 << 20 // of a film, all of whose truth is kept
)

// complete puts defaults in and refuses what cannot be drawn.
func (o *Options) complete(fewestFrames, mostFrames int) error {
	life := 30.0
	if o.Scenario == Bleaching {
		life = 60
	}
	for _, v := range []struct {
		field *float64
		value float64
	}{{&o.SD, 1.4}, {&o.Background, 10}, {&o.Life, life}} {
		if *v.field == 0 {
			*v.field = v.value
		}
	}
	if !slices.Contains(Scenarios, o.Scenario) {
		return fmt.Errorf("no scenario %q: give one of %v", o.Scenario, Scenarios)
	}
	for _, v := range []struct {
		name               string
		value, least, most float64
	}{
		{"density", float64(o.Density), 0, mostObjects},
		{"snr", o.SNR, 0.1, mostSNR},
		{"width", float64(o.Width), 16, mostSide},
		{"height", float64(o.Height), 16, mostSide},
		{"frames", float64(o.Frames), float64(fewestFrames), float64(mostFrames)},
		{"the spread of a point", o.SD, 0.3, 50},
		{"background", o.Background, 0.01, sim.MostPoisson},
		{"life", o.Life, 1, 1e4},
	} {
		if !(v.value >= v.least && v.value <= v.most) {
			return fmt.Errorf("%s is %g: give %g to %g", v.name, v.value, v.least, v.most)
		}
	}
	return nil
}

// motionStream is the second word of the PCG seed of lives; a film draws its noise from there, too, after all lives.
const motionStream = 0xf1e1d

// Field is a film that is drawn frame by frame.
type Field struct {
	Tracks [][]Point // the truth; those of one frame alone are none

	o      Options
	optics optics
	at     [][]Point // a frame
	rng    *rand.Rand
	mean   []float64
}

// New moves all objects; Draw draws.
func New(o Options) (*Field, error) {
	if err := o.complete(1, mostFrames); err != nil {
		return nil, err
	}
	f := &Field{o: o, optics: newOptics(o), rng: rand.New(rand.NewPCG(o.Seed, motionStream)), mean: make([]float64, o.Width*o.Height), at: make([][]Point, o.Frames)}
	m := newMotion(o, f.rng)
	for frame := range o.Frames {
		for range m.births(frame) {
			if track := m.live(nil, frame); len(track) > 0 {
				f.Tracks = append(f.Tracks, track)
			}
		}
	}
	for _, track := range f.Tracks {
		for _, p := range track {
			f.at[p.Frame] = append(f.at[p.Frame], p)
		}
	}
	return f, nil
}

// At lends the true places of a frame.
func (f *Field) At(frame int) []Point { return f.at[frame] }

// Draw draws a frame, in photons. Frames are drawn once each, from the first on: the noise is one stream.
func (f *Field) Draw(frame int, dst []uint16) {
	for i := range f.mean {
		f.mean[i] = f.o.Background
	}
	for _, p := range f.at[frame] {
		f.optics.light(p, func(pixel int, photons float64) { f.mean[pixel] += photons })
	}
	for i, m := range f.mean {
		dst[i] = uint16(min(poisson(f.rng, m), math.MaxUint16))
	}
}
