package finder

import "math"

// filter is the kind of filter that look applies.
type filter uint8

const (
	laplace filter = iota // the Laplacian of a Gaussian, normalised by scale: bright blobs positive
	matched               // for a Gaussian spot on a flat background
)

// level is a picture filtered at one scale, on its own grid.
type level struct {
	Picture
	s      float64
	fx, fy float64 // pixels of the film per pixel of the grid
}

// look filters a picture at scale s. It approximates the Laplacian by the difference of Gaussians of .9 s and 1.1 s, divided by .2.
func look(f Picture, s float64, with filter) level {
	wide := s
	if with == matched {
		wide = 3 * s / 2
	}
	q := coarse(wide)
	h := shrink(f, q)
	t := s * float64(h.W) / float64(f.W)
	l := level{s: s, fx: float64(f.W) / float64(h.W), fy: float64(f.H) / float64(h.H)}
	if with == matched {
		l.Picture = blurFine(h, t).minus(blurFine(h, 3*t))
		return l
	}
	l.Picture = blurFine(h, .9*t).minus(blurFine(h, 1.1*t))
	for i := range l.P {
		l.P[i] *= 5
	}
	return l
}

// film maps a position on the grid to pixels of the film.
func (l *level) film(x, y float64) (float64, float64) { return (x+.5)*l.fx - .5, (y+.5)*l.fy - .5 }

// value returns the level's value at a position in pixels of the film.
func (l *level) value(x, y float64) float64 { return l.at((x+.5)/l.fx-.5, (y+.5)/l.fy-.5) }

// blob is an extremum of the scale space.
type blob struct {
	r    float64 // strength: the value of the level, positive
	p    float64 // 1 bright, -1 dark
	s    float64 // scale
	x, y float64 // position in the film, at a grid point
	z    float64 // strength over the noise
	at   int     // index of the level
}

// reach returns the half width of the window in which an extremum must be the largest value, on the level's grid.
func (l *level) reach() int { return max(1, int(math.Round(.7*l.s/l.fx))) }

// peaks visits the positive local maxima of p times the level.
func (l *level) peaks(p float32, visit func(x, y int, v float32)) {
	m := l.Picture
	if p < 0 {
		m = NewPicture(l.W, l.H)
		for i, v := range l.P {
			m.P[i] = -v
		}
	}
	w := widest(m, l.reach())
	for i, v := range m.P {
		if v > 0 && v == w.P[i] {
			visit(i%l.W, i/l.W, v)
		}
	}
}

// sharpened returns the position of an extremum between pixels, from a parabola along each axis.
func (l *level) sharpened(b *blob) (x, y float64) {
	i, j := int(math.Round((b.x+.5)/l.fx-.5)), int(math.Round((b.y+.5)/l.fy-.5))
	if i < 1 || j < 1 || i >= l.W-1 || j >= l.H-1 {
		return b.x, b.y
	}
	v := func(i, j int) float64 { return b.p * float64(l.P[j*l.W+i]) }
	c := v(i, j)
	dx := .5 * (v(i-1, j) - v(i+1, j)) / min(v(i-1, j)-2*c+v(i+1, j), -1e-9)
	dy := .5 * (v(i, j-1) - v(i, j+1)) / min(v(i, j-1)-2*c+v(i, j+1), -1e-9)
	return l.film(float64(i)+min(max(dx, -1), 1), float64(j)+min(max(dy, -1), 1))
}
