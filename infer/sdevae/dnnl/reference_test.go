package dnnl

import "math"

// reference computes a stack in float64 directly from its definition, layer by layer, slowly and simply.
type reference struct {
	layers []Layer
	in     Shape
	n      int
	stats  []Moments // used instead of the batch's moments if not nil
}

// maps holds n pictures of one shape.
type maps struct {
	Shape
	v []float64
}

func (m maps) at(i, c, y, x int) *float64 { return &m.v[((i*m.C+c)*m.H+y)*m.W+x] }

func blank(s Shape, n int) maps { return maps{s, make([]float64, n*s.Size())} }

// forward returns the output for pictures x and parameters theta.
func (r reference) forward(x, theta []float64) []float64 {
	a := maps{r.in, x}
	norms := 0
	for _, l := range r.layers {
		switch l.Kind {
		case Conv:
			w := theta[:l.Out*a.C*l.Kernel*l.Kernel]
			b := theta[len(w) : len(w)+l.Out]
			theta = theta[len(w)+l.Out:]
			a = r.conv(a, w, b, l)
		case BatchNorm:
			var given *Moments
			if r.stats != nil {
				given = &r.stats[norms]
			}
			norms++
			a = r.norm(a, theta[:a.C], theta[a.C:2*a.C], given)
			theta = theta[2*a.C:]
		case LeakyReLU:
			a = r.each(a, func(v float64) float64 { return math.Max(v, 0.01*v) })
		case Sigmoid:
			a = r.each(a, func(v float64) float64 { return 1 / (1 + math.Exp(-v)) })
		case MaxPool:
			a = r.pool(a)
		case Upsample:
			a = r.upsample(a)
		}
	}
	return a.v
}

func (r reference) conv(a maps, w, b []float64, l Layer) maps {
	k, p := l.Kernel, l.Kernel/2
	z := blank(Shape{l.Out, a.H, a.W}, r.n)
	for i := range r.n {
		for o := range l.Out {
			for y := range a.H {
				for x := range a.W {
					sum := b[o]
					for c := range a.C {
						for ky := max(0, p-y); ky < min(k, a.H+p-y); ky++ {
							for kx := max(0, p-x); kx < min(k, a.W+p-x); kx++ {
								sum += w[((o*a.C+c)*k+ky)*k+kx] * *a.at(i, c, y+ky-p, x+kx-p)
							}
						}
					}
					*z.at(i, o, y, x) = sum
				}
			}
		}
	}
	return z
}

func (r reference) norm(a maps, gamma, beta []float64, given *Moments) maps {
	z := blank(a.Shape, r.n)
	plane := a.H * a.W
	for c := range a.C {
		var mean, variance float64
		if given != nil {
			mean, variance = float64(given.Mean[c]), float64(given.Var[c])
		} else {
			mean, variance = r.moments(a, c)
		}
		for i := range r.n {
			for j := range plane {
				at := (i*a.C+c)*plane + j
				z.v[at] = gamma[c]*(a.v[at]-mean)/math.Sqrt(variance+1e-5) + beta[c]
			}
		}
	}
	return z
}

func (r reference) moments(a maps, c int) (mean, variance float64) {
	plane := a.H * a.W
	count := float64(r.n * plane)
	for i := range r.n {
		for j := range plane {
			mean += a.v[(i*a.C+c)*plane+j] / count
		}
	}
	for i := range r.n {
		for j := range plane {
			d := a.v[(i*a.C+c)*plane+j] - mean
			variance += d * d / count
		}
	}
	return mean, variance
}

func (r reference) each(a maps, f func(float64) float64) maps {
	z := blank(a.Shape, r.n)
	for i, v := range a.v {
		z.v[i] = f(v)
	}
	return z
}

func (r reference) pool(a maps) maps {
	z := blank(Shape{a.C, a.H / 2, a.W / 2}, r.n)
	for i := range r.n {
		for c := range a.C {
			for y := range z.H {
				for x := range z.W {
					*z.at(i, c, y, x) = max(*a.at(i, c, 2*y, 2*x), *a.at(i, c, 2*y, 2*x+1), *a.at(i, c, 2*y+1, 2*x), *a.at(i, c, 2*y+1, 2*x+1))
				}
			}
		}
	}
	return z
}

func (r reference) upsample(a maps) maps {
	z := blank(Shape{a.C, 2 * a.H, 2 * a.W}, r.n)
	for i := range r.n {
		for c := range a.C {
			for y := range z.H {
				for x := range z.W {
					*z.at(i, c, y, x) = *a.at(i, c, y/2, x/2)
				}
			}
		}
	}
	return z
}

// slope returns the central difference of f along the coordinate v.
func slope(f func() float64, v *float64) float64 {
	const h = 1e-6
	was := *v
	*v = was + h
	up := f()
	*v = was - h
	down := f()
	*v = was
	return (up - down) / (2 * h)
}
