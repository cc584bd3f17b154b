package mapstest

import "math"

// Law is a drift, px/s, with diffusion D, px²/s.
type Law struct {
	Name     string
	Drift    func(x, y float64) (dx, dy float64)
	D        float64
	Traps    []Place // true traps
	Vortices []Place
}

// Place is a trap of stiffness Rate, or a vortex of angular velocity Rate, 1/s.
type Place struct{ X, Y, Rate float64 }

// Well is a Gaussian well with stiffness K at its centre and width W, px.
type Well struct{ X, Y, K, W float64 }

// Wells returns the drift of several wells.
func Wells(all ...Well) func(x, y float64) (dx, dy float64) {
	return func(x, y float64) (dx, dy float64) {
		for _, o := range all {
			u, v := x-o.X, y-o.Y
			pull := o.K * math.Exp(-(u*u+v*v)/(2*o.W*o.W))
			dx, dy = dx-pull*u, dy-pull*v
		}
		return dx, dy
	}
}

// welled returns a law of wells.
func welled(name string, d float64, all ...Well) Law {
	l := Law{Name: name, Drift: Wells(all...), D: d}
	for _, o := range all {
		l.Traps = append(l.Traps, Place{o.X, o.Y, o.K})
	}
	return l
}

// Spring returns the drift of an unbounded trap.
func Spring(x0, y0, k float64) func(x, y float64) (dx, dy float64) {
	return func(x, y float64) (dx, dy float64) { return -k * (x - x0), -k * (y - y0) }
}

// sprung returns a law of a spring.
func sprung(name string, d float64, at Place) Law {
	return Law{Name: name, Drift: Spring(at.X, at.Y, at.Rate), D: d, Traps: []Place{at}}
}

// Whirl returns a rotation about a centre. Its angular velocity is at.Rate at the centre, 1/s, and decays as a Gaussian of width w.
func Whirl(at Place, w float64) func(x, y float64) (dx, dy float64) {
	return func(x, y float64) (dx, dy float64) {
		u, v := x-at.X, y-at.Y
		turn := at.Rate * math.Exp(-(u*u+v*v)/(2*w*w))
		return -turn * v, turn * u
	}
}

// Shear returns a flow along x that grows with y, by rate 1/s, and is zero at y0.
func Shear(y0, rate float64) func(x, y float64) (dx, dy float64) {
	return func(_, y float64) (float64, float64) { return rate * (y - y0), 0 }
}

// Rolls returns n x n eddies in a field of Side, each turning against its neighbours. fastest is the largest drift, px/s. No drift leads out of the field.
func Rolls(n int, fastest float64) func(x, y float64) (dx, dy float64) {
	return func(x, y float64) (dx, dy float64) {
		u, v := float64(n)*math.Pi*x/Side, float64(n)*math.Pi*y/Side
		return fastest * math.Sin(u) * math.Cos(v), -fastest * math.Cos(u) * math.Sin(v)
	}
}

// Uniform returns a uniform drift.
func Uniform(dx, dy float64) func(x, y float64) (float64, float64) {
	return func(_, _ float64) (float64, float64) { return dx, dy }
}

// Laws for developing and measuring maps, in a field of Side.
var (
	ASpring        = sprung("a spring", 10, Place{128, 128, 1})
	AStiffSpring   = sprung("a stiff spring", 50, Place{100, 140, 5})
	ASoftSpring    = sprung("a soft spring, D 1", 1, Place{128, 128, .5})
	AWideWell      = welled("a wide well", 20, Well{110, 130, 2, 60})
	ThreeWells     = welled("three wells", 20, Well{60, 60, 2, 30}, Well{190, 90, 1, 30}, Well{110, 200, 4, 25})
	ThreeWeakWells = welled("three weak wells", 50, Well{60, 60, .5, 40}, Well{190, 90, .5, 40}, Well{110, 200, .5, 40})
	AVortex        = Law{Name: "a vortex", Drift: Whirl(Place{128, 128, 1}, 60), D: 20, Vortices: []Place{{128, 128, 1}}}
	AFlow          = Law{Name: "a flow", Drift: Uniform(3, -2), D: 10}
	Nothing        = Law{Name: "nothing", Drift: Uniform(0, 0), D: 10}
)

// Laws for testing maps. No design choice was based on them.
var (
	AnotherSpring = sprung("another spring", 20, Place{150, 100, 0.7})
	AnotherWell   = welled("another well", 15, Well{90, 160, 3, 40})
	AnotherFlow   = Law{Name: "another flow", Drift: Uniform(-2, 4), D: 15}
	AShear        = Law{Name: "a shear", Drift: Shear(128, 0.05), D: 10}
	ARoll         = Law{Name: "a roll", Drift: Rolls(1, 6), D: 10}
	FourRolls     = Law{Name: "four rolls", Drift: Rolls(2, 10), D: 20}
)

// Side is the side of the field of these laws, px.
const Side = 256

// Scenes returns the laws with drift for measuring maps.
func Scenes() []Law {
	return []Law{ASpring, AStiffSpring, ASoftSpring, AWideWell, ThreeWells, ThreeWeakWells, AVortex, AFlow}
}

// Judging returns laws that were not used when choosing the priors and errors of the map.
func Judging() []Law {
	return []Law{AnotherSpring, AnotherWell, AnotherFlow, AShear, ARoll, FourRolls}
}
