package states

import "math"

// InFocus returns the share of the objects in a slab of focus, depth wide, that are still in it after a time, for diffusion d and without returns: ∫∫ of
// a Gaussian of variance 2Dt over the slab,
//
//	erf a - (1 - exp(-a²)) / a√π,  a = depth/√(4Dt).
//
// d and depth² use the same unit of length. A depth of zero means unknown: all stay.
func InFocus(d, time, depth float64) float64 {
	if !(depth > 0 && d > 0 && time > 0) {
		return 1
	}
	a := depth / math.Sqrt(4*d*time)
	return math.Erf(a) - (1-math.Exp(-a*a))/(a*math.Sqrt(math.Pi))
}
