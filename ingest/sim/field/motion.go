package field

import (
	"math"
	"math/rand/v2"
)

// Point is the state of an object in one frame.
type Point struct {
	Frame int
	X, Y  float64 // px
	Z     float64 // px from the focus; 0 except in Focus
	Light float64 // fraction of the full light; 0 is dark, as in Blinking
}

// Blinking alternates between two states: bright for 20 frames on average, and dark for 3.
const (
	toDark  = 0.05
	toLight = 1.0 / 3
)

// Birthplaces in Crowded: most objects are born around hot spots, the others anywhere.
const (
	crowd   = 0.75
	patch   = 12.0      // px, sd around a hot spot; with 100 objects in 512x512 px the nearest neighbour there is 10 px away, instead of 26
	acreage = 128 * 128 // px² of the picture per hot spot
)

// slab is the largest distance from the focus in Focus, px. A spot is √10 as wide there as in focus, and its peak a tenth.
const slab = 3 * depth

// gone is the fraction of light at which a bleached object ends. At SNR 4 its spot is then 2 standard deviations above the background.
const gone = 0.1

// motion draws the tracks of objects, one after another.
type motion struct {
	o   Options
	rng *rand.Rand
	hot [][2]float64 // px, for Crowded
}

func newMotion(o Options, rng *rand.Rand) *motion {
	m := &motion{o: o, rng: rng}
	if o.Scenario == Crowded {
		for range max(1, o.Width*o.Height/acreage) {
			m.hot = append(m.hot, [2]float64{rng.Float64() * float64(o.Width), rng.Float64() * float64(o.Height)})
		}
	}
	return m
}

// births returns the number of objects that begin in a frame.
func (m *motion) births(frame int) int {
	if frame == 0 {
		return m.o.Density
	}
	return poisson(m.rng, float64(m.o.Density)/m.life())
}

// life returns the mean number of frames from birth to death.
func (m *motion) life() float64 {
	if m.o.Scenario == Bleaching {
		return m.o.Life * math.Log(1/gone)
	}
	return m.o.Life
}

// object is the state of one object in a frame.
type object struct {
	x, y, z      float64
	homeX, homeY float64
	sd           float64 // px a frame
	speed, angle float64 // px per frame, rad
	goes         bool
	light        float64 // fraction of the full light
}

// live appends an object's path from birth to death, or nothing if it lasts a single frame.
func (m *motion) live(track []Point, born int) []Point {
	end := math.MaxInt
	if m.o.Frames > 0 {
		end = m.o.Frames
	}
	if m.o.Scenario != Bleaching {
		end = min(end, born+m.span())
	}
	o := m.birth(born)
	begin := len(track)
	for frame := born; frame < end && m.holds(&o); frame++ {
		track = append(track, Point{frame, o.x, o.y, o.z, o.light})
		m.step(&o)
	}
	if len(track) < begin+2 {
		return track[:begin]
	}
	return track
}

// span draws the number of frames that an object lives, from a geometric law that starts at 2.
func (m *motion) span() int {
	n := 2
	for m.rng.Float64() >= 1/m.o.Life {
		n++
	}
	return n
}

// birth returns a new object. Objects of the first frame start in the middle of their life.
func (m *motion) birth(born int) object {
	rng := m.rng
	o := object{light: 1}
	o.x, o.y = m.place()
	o.homeX, o.homeY = o.x, o.y
	o.sd, o.speed, o.angle, o.goes = 1+2*rng.Float64(), 2+3*rng.Float64(), 2*math.Pi*rng.Float64(), rng.Float64() < 0.5
	switch m.o.Scenario {
	case Bleaching:
		if born == 0 {
			o.light = math.Pow(gone, rng.Float64()) // the age is uniform over the life
		}
	case Blinking:
		if rng.Float64() < toDark/(toDark+toLight) {
			o.light = 0
		}
	case Focus:
		o.z = slab * (2*rng.Float64() - 1)
	}
	return o
}

// place draws a birthplace.
func (m *motion) place() (x, y float64) {
	rng, width, height := m.rng, float64(m.o.Width), float64(m.o.Height)
	if m.o.Scenario != Crowded || rng.Float64() >= crowd {
		return rng.Float64() * width, rng.Float64() * height
	}
	for {
		hot := m.hot[rng.IntN(len(m.hot))]
		x, y = hot[0]+patch*rng.NormFloat64(), hot[1]+patch*rng.NormFloat64()
		if x >= 0 && y >= 0 && x < width && y < height {
			return x, y
		}
	}
}

// holds reports whether an object is inside the picture and still shines.
func (m *motion) holds(o *object) bool {
	inside := o.x >= 0 && o.y >= 0 && o.x < float64(m.o.Width-1) && o.y < float64(m.o.Height-1)
	return inside && (m.o.Scenario != Bleaching || o.light >= gone)
}

// step moves an object by one frame.
func (m *motion) step(o *object) {
	rng := m.rng
	brownian := func(sd float64) { o.x, o.y = o.x+sd*rng.NormFloat64(), o.y+sd*rng.NormFloat64() }
	directed := func() { o.x, o.y = o.x+o.speed*math.Cos(o.angle), o.y+o.speed*math.Sin(o.angle) }
	switch m.o.Scenario {
	case Vesicle:
		brownian(o.sd)
	case Trapped:
		o.x, o.y = o.x-0.1*(o.x-o.homeX)+rng.NormFloat64(), o.y-0.1*(o.y-o.homeY)+rng.NormFloat64()
	case Directed:
		o.angle += 0.1 * rng.NormFloat64()
		directed()
	case Receptor:
		if rng.Float64() < 0.05 {
			o.goes, o.angle, o.speed = !o.goes, 2*math.Pi*rng.Float64(), 2+2*rng.Float64()
		}
		if o.goes {
			directed()
		} else {
			brownian(1)
		}
	case Crowded:
		brownian(1)
	case Bleaching:
		brownian(1)
		o.light *= math.Exp(-1 / m.o.Life)
	case Blinking:
		brownian(1)
		switch u := rng.Float64(); {
		case o.light > 0 && u < toDark:
			o.light = 0
		case o.light == 0 && u < toLight:
			o.light = 1
		}
	case Focus:
		brownian(1)
		if o.z += rng.NormFloat64(); math.Abs(o.z) > slab { // reflected at the slab's edge
			o.z = math.Copysign(2*slab, o.z) - o.z
		}
	}
}
