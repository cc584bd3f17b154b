package states

import "math"

// InFocus is the share of the objects within a slab of focus, depth wide, that are within it after a time as well, where they diffuse by d and do not come
// back before: ∫∫ of a Gaussian of variance 2Dt over the slab,
//
//	erf a - (1 - exp(-a²)) / a√π,  a = depth/√(4Dt).
//
// d and depth² are in the same units of length. A depth of zero is not known: all stay.
func InFocus(d, time, depth float64) float64 {
	if !(depth > 0 && d > 0 && time > 0) {
		return 1
	}
	a := depth / math.Sqrt(4*d*time)
	return math.Erf(a) - (1-math.Exp(-a*a))/(a*math.Sqrt(math.Pi))
}
