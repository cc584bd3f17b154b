package motiontest

import "math"

// Kind is a law that a judge of classes is measured on.
type Kind int

// The kinds: one of each class of online/motion, but two exponents.
const (
	Stuck Kind = iota
	Free
	Confined // in a trap that pulls back in five frames of 0.1 s
	Directed // at 1.1 deviations of a step a frame of 0.1 s
	Subdiffusive
	Superdiffusive
	Kinds
)

// String is the class, and the exponent where it is not 1.
func (k Kind) String() string {
	return [...]string{"stuck", "free", "confined", "directed", "anomalous 0.5", "anomalous 1.5"}[k]
}

// Law is a kind's, of D = 1 px²/s, or such motion as spreads alike in a frame of so many s, with noise of a variance.
func (k Kind) Law(frame, noise float64) Law {
	l := Law{D: 1, Noise: noise}
	switch k {
	case Stuck:
		l.D = 0
	case Confined:
		l.Stiffness = 2
	case Directed:
		l.Speed = 5
	case Subdiffusive:
		l.D, l.Alpha = math.Pow(frame, 0.5), 0.5
	case Superdiffusive:
		l.D, l.Alpha = math.Pow(frame, -0.5), 1.5
	}
	return l
}
