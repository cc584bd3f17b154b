package field

import "math"

// Bound returns the Cramér-Rao lower bound on the standard deviation of a single spot's position, px per axis, for a spot in focus with full light. It comes
// from the Fisher information of Poisson counts about position and amplitude, with a known background, and is the root mean square over positions in a pixel.
func (f *Field) Bound() float64 {
	const parts = 5
	sum := 0.0
	for i := range parts * parts {
		dx, dy := (float64(i%parts)+0.5)/parts-0.5, (float64(i/parts)+0.5)/parts-0.5
		sum += f.boundAt(dx, dy) / (parts * parts)
	}
	return math.Sqrt(sum)
}

// boundAt returns the squared bound for a spot at the given offset from a pixel's centre, averaged over both axes.
func (f *Field) boundAt(dx, dy float64) float64 {
	reach := int(math.Ceil(5 * f.o.SD))
	edge := 1 / (math.Sqrt2 * f.o.SD)
	norm := math.Erf(0.5 * edge)
	pdf := func(u float64) float64 { return math.Exp(-u*u/(2*f.o.SD*f.o.SD)) / (f.o.SD * math.Sqrt(2*math.Pi)) }
	// the fraction of an axis' light in pixel k, and its derivative with respect to position
	share := func(k int, at float64) (s, d float64) {
		a, b := float64(k)-0.5-at, float64(k)+0.5-at
		return 0.5 * (math.Erf(b*edge) - math.Erf(a*edge)) / norm, (pdf(a) - pdf(b)) / norm
	}
	var info [3][3]float64
	for y := -reach; y <= reach; y++ {
		sy, gy := share(y, dy)
		for x := -reach; x <= reach; x++ {
			sx, gx := share(x, dx)
			g := [3]float64{sx * sy, f.optics.peak * gx * sy, f.optics.peak * sx * gy}
			mean := f.o.Background + f.optics.peak*sx*sy
			for i := range g {
				for j := range g {
					info[i][j] += g[i] * g[j] / mean
				}
			}
		}
	}
	// the 2x2 information about position that remains after eliminating the amplitude
	xx, xy, yy := info[1][1]-info[0][1]*info[0][1]/info[0][0], info[1][2]-info[0][1]*info[0][2]/info[0][0], info[2][2]-info[0][2]*info[0][2]/info[0][0]
	return (xx + yy) / (xx*yy - xy*xy) / 2
}
