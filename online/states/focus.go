package states

import "math"

// InFocus returns the fraction of the objects in a slab of thickness depth that are in it after the given time, for diffusion d: the double integral of a
// Gaussian of variance 2Dt over the slab,
//
//	erf a - (1 - exp(-a²)) / a√π,  a = depth/√(4Dt).
//
// d and depth² use the same unit of length. A depth of zero means unknown; then InFocus returns 1.
func InFocus(d, time, depth float64) float64 {
	if !(depth > 0 && d > 0 && time > 0) {
		return 1
	}
	a := depth / math.Sqrt(4*d*time)
	return math.Erf(a) - (1-math.Exp(-a*a))/(a*math.Sqrt(math.Pi))
}
