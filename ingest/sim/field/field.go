// Package field simulates fields of many spots with known tracks, after the ISBI particle tracking challenge (Chenouard et
// al., Nature Methods 11, 281, 2014): spots with a Gaussian point spread function, integrated over pixels, on an even
// background with Poisson noise.
//
// SNR is (peak - background)/√peak. The peak is the pixel at the centre of a spot with full light in focus. Positions are in pixels, whole numbers at pixel
// centres. Objects are born and die at random, at rates that keep the density constant. An object that leaves the picture dies.
//
// motion.go computes positions and brightness, optics.go the light in pixels. Field is a film that computes all tracks before it draws. Stream computes the
// same tracks while it draws, endlessly if requested.
package field

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/ingest/sim"
)

// Scenario names a way in which objects move and shine.
type Scenario string

// The scenarios. Those from Bleaching on are Brownian with a step sd of 1 px per axis.
const (
	Vesicle   Scenario = "vesicle"   // Brownian, step sd 1 to 3 px per axis, uniform over objects
	Receptor  Scenario = "receptor"  // switches between Brownian, sd 1 px, and directed, 2 to 4 px per frame, at a rate of 0.05 per frame each way
	Directed  Scenario = "directed"  // 2 to 5 px per frame, with angular noise of 0.1 rad
	Trapped   Scenario = "trapped"   // Ornstein-Uhlenbeck around its birthplace, rate 0.1 per frame, step sd 1 px
	Bleaching Scenario = "bleaching" // light falls as exp(-age / 60 frames); the object ends at a tenth of the full light
	Blinking  Scenario = "blinking"  // goes dark at a rate of 0.05 per frame, for 3 frames on average, and keeps moving meanwhile
	Crowded   Scenario = "crowded"   // three quarters of the objects are born around hot spots, sd 12 px, one hot spot per 128x128 px
	Focus     Scenario = "focus"     // also moves along z, within 12 px of the focus; the spot widens, its total light stays
)

// Scenarios lists all scenarios.
var Scenarios = []Scenario{Vesicle, Receptor, Directed, Trapped, Bleaching, Blinking, Crowded, Focus}

// Options describe a field.
type Options struct {
	Scenario      Scenario
	Density       int     // objects per picture
	SNR           float64 // see the package comment
	Width, Height int     // px
	Frames        int     // 0 makes a Stream endless
	Seed          uint64
	SD            float64 // sd of the point spread function in focus, px; default 1.4
	Background    float64 // photons per pixel; default 10
	Life          float64 // mean life, frames; default 30; in Bleaching the light decays with 60 frames instead
}

// Bounds of a field. The largest picture is an sCMOS camera's, and the brightest spot fits in 16 bits.
const (
	mostSide    = 1 << 12
	mostObjects = 20_000
	mostSNR     = 200
	mostFrames  = 1 << 20 // of a film, because all its tracks stay in memory
)

// complete sets defaults and rejects impossible options.
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
		return fmt.Errorf("scenario %q is not known: give one of %v", o.Scenario, Scenarios)
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

// motionStream is the second word of the PCG seed of the motion. A film also draws its noise from this stream, after all tracks.
const motionStream = 0xf1e1d

// Field is a film drawn frame by frame.
type Field struct {
	Tracks [][]Point // the truth, without tracks of a single frame

	o      Options
	optics optics
	at     [][]Point // positions by frame
	rng    *rand.Rand
	mean   []float64
}

// New returns a field with all its tracks. Draw then draws its frames.
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

// At returns the true positions in a frame. The caller must not change them.
func (f *Field) At(frame int) []Point { return f.at[frame] }

// Draw draws a frame into dst, in photons. Call it once per frame and in order, because noise comes from one random stream.
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
