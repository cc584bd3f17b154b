package finder

import (
	"math"
)

// template is the look of a single object, learnt from the film.
type template struct {
	r      int       // half width, px
	t      []float32 // (2r+1)²
	gx, gy []float32
	w      []float32 // weight of each pixel: 1 inside, falling to the rim
	ncc    float64   // agreement of the film's looks with the template: median correlation
}

func newTemplate(r int) *template {
	t := &template{r: r}
	for j := -r; j <= r; j++ {
		for i := -r; i <= r; i++ {
			d := math.Hypot(float64(i), float64(j)) / (.6 * float64(r))
			t.w = append(t.w, float32(math.Exp(-.5*d*d*d*d)))
		}
	}
	return t
}

// set replaces the template by the median of the looks.
func (t *template) set(looks [][]float32) {
	n := 2*t.r + 1
	t.t, t.gx, t.gy = make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	column := make([]float64, len(looks))
	for i := range t.t {
		for k := range looks {
			column[k] = float64(looks[k][i])
		}
		t.t[i] = float32(median(column))
	}
	for y := range n {
		for x := range n {
			a, b := max(x-1, 0), min(x+1, n-1)
			c, d := max(y-1, 0), min(y+1, n-1)
			t.gx[y*n+x] = (t.t[y*n+b] - t.t[y*n+a]) / float32(b-a)
			t.gy[y*n+x] = (t.t[d*n+x] - t.t[c*n+x]) / float32(d-c)
		}
	}
}

// step fits q = a T(x - d) + c by weighted least squares, linear in d. It returns d, a and the residual sum of squares.
func (t *template) step(q []float32) (dx, dy, a float64, inverse [2]float64, left float64) {
	var m [4][5]float64
	for i, w := range t.w {
		v := [5]float64{float64(t.gx[i]), float64(t.gy[i]), float64(t.t[i]), 1, float64(q[i])}
		for j := range 4 {
			f := float64(w) * v[j]
			for k := j; k < 5; k++ {
				m[j][k] += f * v[k]
			}
		}
	}
	full := m
	c, ok := solve(&m)
	if !ok {
		return 0, 0, 1, inverse, math.Inf(1)
	}
	a = c[2]
	if math.Abs(a) <= .2 {
		a = 1
	}
	var n float64
	for i, w := range t.w {
		r := float64(q[i]) - c[0]*float64(t.gx[i]) - c[1]*float64(t.gy[i]) - c[2]*float64(t.t[i]) - c[3]
		left += float64(w) * r * r
		n += float64(w)
	}
	left /= max(n, 1)
	inverse = [2]float64{left / max(a*a*full[0][0], 1e-12), left / max(a*a*full[1][1], 1e-12)}
	return -c[0] / a, -c[1] / a, c[2], inverse, left
}

// solve solves a symmetric 4x4 system by Gauss elimination with pivots. Only its upper half is given.
func solve(m *[4][5]float64) (c [4]float64, ok bool) {
	for j := range 4 {
		for k := range j {
			m[j][k] = m[k][j]
		}
	}
	for j := range 4 {
		p := j
		for i := j + 1; i < 4; i++ {
			if math.Abs(m[i][j]) > math.Abs(m[p][j]) {
				p = i
			}
		}
		m[j], m[p] = m[p], m[j]
		if math.Abs(m[j][j]) < 1e-12 {
			return c, false
		}
		for i := j + 1; i < 4; i++ {
			f := m[i][j] / m[j][j]
			for k := j; k < 5; k++ {
				m[i][k] -= f * m[j][k]
			}
		}
	}
	for j := 3; j >= 0; j-- {
		c[j] = m[j][4]
		for k := j + 1; k < 4; k++ {
			c[j] -= m[j][k] * c[k]
		}
		c[j] /= m[j][j]
	}
	return c, true
}

// align moves a position to the best match of the template. It returns the position, the variances of x and y, and the correlation there.
func (t *template) align(f Picture, x, y float64, buf []float32) (_, _ float64, variance [2]float64, ncc float64, _ []float32) {
	for range 8 {
		buf = patch(f, x, y, t.r, buf)
		dx, dy, _, v, _ := t.step(buf)
		variance = v
		dx, dy = min(max(dx, -1.5), 1.5), min(max(dy, -1.5), 1.5)
		x, y = x+dx, y+dy
		if math.Hypot(dx, dy) < .003 {
			break
		}
	}
	buf = patch(f, x, y, t.r, buf)
	return x, y, variance, t.correlate(buf), buf
}

func (t *template) correlate(q []float32) float64 {
	var w, mq, mt float64
	for i, u := range t.w {
		w, mq, mt = w+float64(u), mq+float64(u*q[i]), mt+float64(u*t.t[i])
	}
	mq, mt = mq/w, mt/w
	var a, b, c float64
	for i, u := range t.w {
		p, r := float64(q[i])-mq, float64(t.t[i])-mt
		a, b, c = a+float64(u)*p*r, b+float64(u)*p*p, c+float64(u)*r*r
	}
	return a / math.Sqrt(b*c+1e-9)
}

// learn takes the median look and aligns it with the frames, three times. frames[k] shows the object at (x[k], y[k]); learn refines these positions.
func (t *template) learn(frames []Picture, x, y []float64) {
	looks := make([][]float32, len(frames))
	score := make([]float64, len(frames))
	for range 3 {
		run(len(frames), func(k int) { looks[k] = patch(frames[k], x[k], y[k], t.r, nil) })
		t.set(looks)
		run(len(frames), func(k int) { x[k], y[k], _, score[k], _ = t.align(frames[k], x[k], y[k], nil) })
	}
	t.ncc = median(score)
}
