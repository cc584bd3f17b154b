package locate

// The normal equations of a spot are sums over its patch of w T² uᵖ vᵠ and w T r uᵖ, with w = 1/var, r the residual, and u and v the way from its place along
// x and y, in sds. v and T's part along y are the same over a row, so what is summed pixel by pixel is few: powers of u.

// moments is scratch: T² uᵖ and T uᵖ along x.
type moments struct {
	square [5][mostPatch]float32
	single [3][mostPatch]float32
}

// set sets the powers as far as order of T², and half of that of T, of a patch that begins so far from the spot, px.
func (m *moments) set(p *patch, from, sd float64, order int) {
	for i, t := range p.tx[:p.x1-p.x0] {
		u := float32((from + float64(i)) / sd)
		v := t
		for k := range order/2 + 1 {
			m.single[k][i] = v
			v *= u
		}
		v = t * t
		for k := range order + 1 {
			m.square[k][i] = v
			v *= u
		}
	}
}

// precision is what a pixel weighs: the inverse of its variance, by all light that it is seen to have.
type precision struct{ read, gain, floor float32 }

func (n Noise) precision() precision {
	return precision{float32(n.Read), float32(n.Gain), float32(n.Floor())}
}

func (p precision) at(seen float32) float32 {
	v := p.read + p.gain*seen
	if v < p.floor {
		v = p.floor
	}
	return 1 / v
}

// row sums a row of the patch: w T² uᵖ for p to 2, and w T r uᵖ to 1.
func (l *Locator) row(p *patch, y int) (square [3]float64, single [2]float64) {
	m, n, at := &l.moments, p.x1-p.x0, y*l.w+p.x0
	residual, picture := l.residual[at:][:n], l.picture[at:][:n]
	s0, s1, s2 := m.square[0][:n], m.square[1][:n], m.square[2][:n]
	t0, t1 := m.single[0][:n], m.single[1][:n]
	var a, b, c, d, e float32
	for i, left := range residual {
		w := l.precision.at(picture[i] - left)
		a += w * s0[i]
		b += w * s1[i]
		c += w * s2[i]
		w *= left
		d += w * t0[i]
		e += w * t1[i]
	}
	return [3]float64{float64(a), float64(b), float64(c)}, [2]float64{float64(d), float64(e)}
}

// longRow sums as row does, for p to 4 and to 2.
func (l *Locator) longRow(p *patch, y int) (square [5]float64, single [3]float64) {
	m, n, at := &l.moments, p.x1-p.x0, y*l.w+p.x0
	residual, picture := l.residual[at:][:n], l.picture[at:][:n]
	s0, s1, s2, s3, s4 := m.square[0][:n], m.square[1][:n], m.square[2][:n], m.square[3][:n], m.square[4][:n]
	t0, t1, t2 := m.single[0][:n], m.single[1][:n], m.single[2][:n]
	var a, b, c, d, e, f, g, h float32
	for i, left := range residual {
		w := l.precision.at(picture[i] - left)
		a += w * s0[i]
		b += w * s1[i]
		c += w * s2[i]
		d += w * s3[i]
		e += w * s4[i]
		w *= left
		f += w * t0[i]
		g += w * t1[i]
		h += w * t2[i]
	}
	return [5]float64{float64(a), float64(b), float64(c), float64(d), float64(e)}, [3]float64{float64(f), float64(g), float64(h)}
}
