package motiontest

import "math"

// Kind is a law for measuring a judge of classes.
type Kind int

// The kinds: one per class of online/motion, and two exponents for the anomalous class.
const (
	Stuck Kind = iota
	Free
	Confined // trap that pulls back in five frames of 0.1 s
	Directed // at 1.1 standard deviations of a step per frame of 0.1 s
	Subdiffusive
	Superdiffusive
	Kinds
)

// String returns the class, and the exponent unless it is 1.
func (k Kind) String() string {
	return [...]string{"stuck", "free", "confined", "directed", "anomalous 0.5", "anomalous 1.5"}[k]
}

// Law returns the law of a kind with D = 1 px²/s, or with the same spread in a frame of frame s, and noise of a variance.
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
