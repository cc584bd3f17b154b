//go:build nodnnl

package dnnl

import "math"

// activate writes the output for a range of pictures: a = f(scale z + base), pooled if the stage pools. It pools first, which is equivalent because f
// increases.
func (s *nativeStage) activate(from, to int) {
	m, o := s.made(), s.out()
	for i := from; i < to; i++ {
		for c := range s.channels {
			scale, base := s.scale[c], s.base[c]
			z, a := s.z[(i*m.C+c)*m.H*m.W:], s.a[(i*o.C+c)*o.H*o.W:][:o.H*o.W]
			for j := range a {
				u := scale*z[j] + base
				if s.pool {
					_, u = s.largest(z, j, c)
				}
				a[j] = s.curve(u)
			}
		}
	}
}

// largest finds the largest of the four values that output cell j pools, after scale and base. Of equal values it takes the first.
func (s *nativeStage) largest(z []float32, j, c int) (at int, u float32) {
	w := s.made().W
	corner := j/(w/2)*2*w + j%(w/2)*2
	at, u = corner, s.scale[c]*z[corner]+s.base[c]
	for _, k := range [3]int{corner + 1, corner + w, corner + w + 1} {
		if v := s.scale[c]*z[k] + s.base[c]; v > u {
			at, u = k, v
		}
	}
	return at, u
}

func (s *nativeStage) curve(u float32) float32 {
	switch {
	case s.squash:
		return float32(1 / (1 + math.Exp(-float64(u))))
	case s.leaky && u < 0:
		return leak * u
	}
	return u
}

// slope returns the derivative of curve at the u with curve(u) = a.
func (s *nativeStage) slope(a float32) float32 {
	switch {
	case s.squash:
		return a * (1 - a)
	case s.leaky && a <= 0:
		return leak
	}
	return 1
}

// differentiate writes to dz the gradient with respect to u = scale z + base, from da, the gradient with respect to the output.
func (s *nativeStage) differentiate(da []float32, from, to int) {
	m, o := s.made(), s.out()
	for i := from; i < to; i++ {
		for c := range s.channels {
			at, out := (i*m.C+c)*m.H*m.W, (i*o.C+c)*o.H*o.W
			z, dz := s.z[at:at+m.H*m.W], s.dz[at:at+m.H*m.W]
			if s.pool {
				clear(dz)
			}
			for j := range o.H * o.W {
				k := j
				if s.pool {
					k, _ = s.largest(z, j, c)
				}
				dz[k] = da[out+j] * s.slope(s.a[out+j])
			}
		}
	}
}

// normaliseGradient converts dz from the gradient with respect to u = gamma xhat + beta to the gradient with respect to z, where xhat = (z - mean)/sd:
//
//	dz = gamma/sd (du - E[du] - xhat E[du xhat])
func (s *nativeStage) normaliseGradient(dtheta []float32, n int) {
	if !s.norm {
		return
	}
	m := s.made()
	plane := m.H * m.W
	for c := range s.channels {
		var sum, product float64
		rise, fall := s.rise[c], s.fall[c]
		for i := range n {
			at := (i*m.C + c) * plane
			for j, g := range s.dz[at : at+plane] {
				sum += float64(g)
				product += float64(g) * float64(s.z[at+j]*rise+fall)
			}
		}
		dtheta[s.gamma+c], dtheta[s.beta+c] = float32(product), float32(sum)
		count := float64(n * plane)
		mean, slope := float32(sum/count), float32(product/count)
		for i := range n {
			at := (i*m.C + c) * plane
			dz := s.dz[at : at+plane]
			for j := range dz {
				dz[j] = s.scale[c] * (dz[j] - mean - (s.z[at+j]*rise+fall)*slope)
			}
		}
	}
}
