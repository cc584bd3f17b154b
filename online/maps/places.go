// Traps, vortices, flow
//
// Each zero of the mean drift that is not a saddle is tested in windows of eleven radii. A trap needs evidence for a dilation among the affine drifts in the
// window, a vortex for a rotation. A priori a trap or vortex is as likely as none, at any position and with any radius. The rate is the slope of the map. A
// trap or vortex is dropped if the interval of its rate contains 0.

package maps

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Place is a trap, where the drift converges, or a vortex, around which the drift turns. It is a zero of the drift with a nearly affine drift around it.
type Place struct {
	X, Y     float64 // px
	SD       float64 // standard error of the position per axis, px
	Rate     float64 // 1/s: the stiffness k of a trap μ = -k(x-c), or the angular velocity of a vortex, positive from x to y
	RateSD   float64 // standard error
	Reach    float64 // radius within which the drift is affine, px
	Evidence float64 // evidence for the trap or vortex, nats
}

// Interval returns the 95 % interval of the rate.
func (p *Place) Interval() (low, high float64) {
	const normal95 = 1.96
	return p.Rate - normal95*p.RateSD, p.Rate + normal95*p.RateSD
}

// Flow is a uniform drift. It is reported if it makes up most of the drift.
type Flow struct {
	X, Y     float64 // px/s
	SD       float64 // standard error per axis, px/s
	Evidence float64 // evidence for the flow, nats
}

// reaches lists the tested radii in cells. Each is about a third larger than the last.
var reaches = [...]float64{1.5, 2, 2.7, 3.6, 4.8, 6.4, 8.5, 11.3, 15, 20, 32}

const (
	settling  = 2   // number of moves of a candidate to the zero of the affine drift around it
	leastPair = 1.5 // cells; closer candidates count as one
)

// tell finds the traps, the vortices and the flow.
func (l *Law) tell(mean [2][]float64, pause func()) {
	r := l.field
	for at := range r.parts {
		if x, y, ok := r.zero(at, mean); ok {
			l.settle(x, y, pause)
		}
	}
	best := func(a, b Place) int { return int(math.Copysign(1, b.Evidence-a.Evidence)) }
	slices.SortStableFunc(l.Traps, best)
	slices.SortStableFunc(l.Vortices, best)
	l.stream()
}

// zero returns the zero of the drift in a cell, by Newton's method from its middle.
func (r *regression) zero(at int, mean [2][]float64) (x, y float64, ok bool) {
	const steps, beyond = 8, 0.5 // tolerance beyond the edge of the cell, in cells, so no zero on an edge is lost
	i, j := at%(r.nx-1), at/(r.nx-1)
	u, v := 0.5, 0.5
	for range steps {
		var f, fu, fv [2]float64
		for axis := range f {
			c := func(k int) float64 { return mean[axis][r.corner(i, j, k)] }
			f[axis] = (1-u)*(1-v)*c(0) + u*(1-v)*c(1) + (1-u)*v*c(2) + u*v*c(3)
			fu[axis] = (1-v)*(c(1)-c(0)) + v*(c(3)-c(2))
			fv[axis] = (1-u)*(c(2)-c(0)) + u*(c(3)-c(1))
		}
		det := fu[0]*fv[1] - fu[1]*fv[0]
		if !(math.Abs(det) > 0) {
			return 0, 0, false
		}
		u, v = u-(f[0]*fv[1]-f[1]*fv[0])/det, v-(fu[0]*f[1]-fu[1]*f[0])/det
		if !(math.Abs(u-0.5) < 2 && math.Abs(v-0.5) < 2) {
			return 0, 0, false
		}
	}
	ok = math.Abs(u-0.5) <= 0.5+beyond && math.Abs(v-0.5) <= 0.5+beyond
	return r.side * (float64(i) + u), r.side * (float64(j) + v), ok
}

// window is the affine drift around a position.
type window struct {
	affine
	reach, scale float64 // px
	share        float64 // fraction of all information about the drift
}

// about fits the affine drift within a radius of a position. Its test functions T equal the affine functions A at the corners within the radius, and 0 at the
// other corners. A sum cut off at an edge would mistake diffusion across the edge for drift. From T'b = T'GA α, with the variance T'GT, F = A'GT(T'GT)⁻¹T'GA.
func (r *regression) about(x, y, reach float64) (w window, ok bool) {
	var ask, own square3
	var pull [3][axes]float64
	info := 0.0
	side := int(reach/r.side) + 2
	ci, cj := int(x/r.side), int(y/r.side)
	for j := max(cj-side, 0); j <= min(cj+side, r.ny-2); j++ {
		for i := max(ci-side, 0); i <= min(ci+side, r.nx-2); i++ {
			p := &r.parts[j*(r.nx-1)+i]
			if p.info == 0 {
				continue
			}
			var a [4][3]float64
			var in [4]float64
			for k := range a {
				a[k] = [3]float64{1, r.side*float64(i+k&1) - x, r.side*float64(j+k>>1) - y}
				if a[k][1]*a[k][1]+a[k][2]*a[k][2] <= reach*reach {
					in[k] = 1
				}
			}
			for k := range a {
				if in[k] == 0 {
					continue
				}
				var all, within [3]float64
				for l, g := range p.gram[k] {
					for n, v := range a[l] {
						all[n] += g * v
						within[n] += g * v * in[l]
					}
				}
				for m, t := range a[k] {
					for axis := range axes {
						pull[m][axis] += t * p.b[axis][k]
					}
					for n := range 3 {
						ask[m][n] += t * all[n]
						own[m][n] += t * within[n]
					}
				}
				info += p.info / 4
			}
		}
	}
	root, ok := own.root()
	if !(info > 0) || !ok {
		return w, false
	}
	var half square3 // the columns of L⁻¹ T'GA, as rows
	var pulled [axes][3]float64
	for n := range half {
		half[n] = root.ahead([3]float64{ask[0][n], ask[1][n], ask[2][n]})
	}
	for axis := range pulled {
		pulled[axis] = root.ahead([3]float64{pull[0][axis], pull[1][axis], pull[2][axis]})
	}
	w.reach, w.share, w.scale = reach, info*r.unit, math.Sqrt((own[1][1]+own[2][2])/own[0][0]/axes)
	unit, g, b := [3]float64{1, w.scale, w.scale}, square3{}, [2][3]float64{}
	for m := range 3 {
		for axis := range b {
			b[axis][m] = inner(&half[m], &pulled[axis]) / unit[m]
		}
		for n := range 3 {
			g[m][n] = inner(&half[m], &half[n]) / (unit[m] * unit[n])
		}
	}
	r.choice.combine(&g, leastSize*leastSize/info)
	w.affine = r.choice.affine(b)
	return w, true
}

// root returns L of LL', and false if the matrix is not positive definite beyond rounding.
func (s *square3) root() (l square3, ok bool) {
	const rounding = 1e-14
	for p := range l {
		for q := range p + 1 {
			sum := s[p][q] - inner(&l[p], &l[q])
			if p > q {
				l[p][q] = sum / l[q][q]
			} else if !(sum > rounding*s[p][p]) {
				return l, false
			} else {
				l[p][p] = math.Sqrt(sum)
			}
		}
	}
	return l, true
}

// ahead returns L⁻¹ b.
func (s *square3) ahead(b [3]float64) (x [3]float64) {
	for p, v := range b {
		x[p] = (v - inner(&s[p], &x)) / s[p][p]
	}
	return x
}

func inner(a, b *[3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Indices of the groups for a flow, a trap and a vortex.
const (
	constants = iota
	dilation
	rotation
)

// rate returns the coefficient of u of a group, divided by the spread: 1/s.
func (w *window) rate(group int) (value, sd float64) {
	at := slices.Index(grouped[:], group)
	return w.on[at] / w.scale, w.sd[at] / w.scale
}

// wide returns the widest window whose rate agrees with the rates of all narrower windows, to two of their standard errors (Lepski, Theory Probab. Appl. 35,
// 454, 1990; Goldenshluger and Nemirovski, Math. Methods Stat. 6, 135, 1997). evidence, nats, averages over the windows up to this one, for a trap or vortex
// anywhere in the field.
func (r *regression) wide(at *windows, group int) (best *window, evidence float64, ok bool) {
	var rates, variances [len(reaches)]float64
	tried := 0
	evidence = math.Inf(-1)
	for k := range reaches {
		w := r.window(at, k)
		if w == nil {
			continue
		}
		value, sd := w.rate(group)
		for i, v := range rates[:tried] {
			if (value-v)*(value-v) > 4*max(variances[i]-sd*sd, sd*sd/4) {
				return best, evidence, ok
			}
		}
		evidence = floats.LogSumExp([]float64{evidence, w.odds[group] - math.Log(max(1/w.share, 1)*float64(len(reaches)))})
		rates[tried], variances[tried] = value, sd*sd
		tried++
		best, ok = w, true
	}
	return best, evidence, ok
}

// windows holds the windows around one position. window computes each at its first use.
type windows struct {
	x, y  float64
	found [len(reaches)]*window // nil if not computed or not solvable
	asked [len(reaches)]bool
	pause func()
}

func (r *regression) window(at *windows, k int) *window {
	if !at.asked[k] {
		at.asked[k] = true
		at.pause()
		if w, ok := r.about(at.x, at.y, reaches[k]*r.side); ok {
			at.found[k] = &w
		}
	}
	return at.found[k]
}

// settle adds a trap or a vortex near a position if the evidence supports it.
func (l *Law) settle(x, y float64, pause func()) {
	about := windows{x: x, y: y, pause: pause} // shared by both kinds
	for _, k := range [2]struct {
		group int
		list  *[]Place
	}{{dilation, &l.Traps}, {rotation, &l.Vortices}} {
		p, ok := l.field.fix(&about, k.group)
		if !ok {
			continue
		}
		p.Rate, p.RateSD = l.slope(p.X, p.Y, k.group)
		if low, high := p.Interval(); low <= 0 && (high >= 0 || k.group == dilation) {
			continue
		}
		near := slices.IndexFunc(*k.list, func(o Place) bool {
			return math.Hypot(o.X-p.X, o.Y-p.Y) < max(leastPair*l.field.side, min(o.Reach, p.Reach)/2)
		})
		if near < 0 {
			*k.list = append(*k.list, p)
		} else if p.Evidence > (*k.list)[near].Evidence {
			(*k.list)[near] = p
		}
	}
}

// fix moves the candidate to the zero of the affine drift around it, for one group of drifts. It returns true if the evidence supports a trap or vortex of
// this group.
func (r *regression) fix(at *windows, group int) (p Place, ok bool) {
	for range settling {
		w, evidence, any := r.wide(at, group)
		if !any {
			break
		}
		dx, dy, sd := w.zero()
		if !(math.Hypot(dx, dy) < w.reach) {
			break
		}
		at = &windows{x: at.x + dx, y: at.y + dy, pause: at.pause}
		p, ok = Place{X: at.x, Y: at.y, SD: sd, Reach: w.reach, Evidence: evidence}, evidence > 0
	}
	return p, ok
}

// zero returns the zero of the affine drift, px from the middle of the window, and its standard error per axis; NaN at a saddle.
func (w *window) zero() (dx, dy, sd float64) {
	a, j := [2]float64{w.on[0], w.on[1]}, [2][2]float64{{w.mean[0][1], w.mean[0][2]}, {w.mean[1][1], w.mean[1][2]}}
	det := j[0][0]*j[1][1] - j[0][1]*j[1][0]
	if !(det > 0) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	dx, dy = -(a[0]*j[1][1]-a[1]*j[0][1])/det*w.scale, -(j[0][0]*a[1]-j[1][0]*a[0])/det*w.scale
	vx, vy := w.sd[0]*w.sd[0], w.sd[1]*w.sd[1]
	sd = w.scale / det * math.Sqrt((j[1][1]*j[1][1]*vx+j[0][1]*j[0][1]*vy+j[0][0]*j[0][0]*vy+j[1][0]*j[1][0]*vx)/axes)
	return dx, dy, sd
}

// slope returns the convergence -½∇·μ or the rotation ½(∂₁μ₂ - ∂₂μ₁) of the drift at a position, 1/s, measured across one cell, and its standard error.
func (l *Law) slope(x, y float64, group int) (mean, sd float64) {
	half := l.field.side / 2
	across := [axes][2]float64{{half, 0}, {0, half}}
	sign := [axes]float64{-1, -1}
	if group == rotation {
		across[0], across[1] = across[1], across[0]
		sign[0], sign[1] = -1, 1
	}
	var at [axes][]int
	var value [axes][]float64
	for axis, d := range across {
		for _, s := range [2]float64{1, -1} {
			corners, p := l.field.place(x+s*d[0], y+s*d[1])
			for k := range corners {
				at[axis], value[axis] = append(at[axis], corners[k]), append(value[axis], s*sign[axis]*p[k]/(4*half))
			}
		}
	}
	square := 0.0
	for i := range l.all {
		sum, variance := 0.0, 0.0
		for axis := range at {
			m, v := l.field.evaluate(&l.all[i], axis, at[axis], value[axis])
			sum, variance = sum+m, variance+v
		}
		mean += l.all[i].weight * sum
		square += l.all[i].weight * (variance + sum*sum)
	}
	return mean, math.Sqrt(max(square-mean*mean, 0))
}

// stream sets the flow if the evidence supports the constants and their square is more than half of the mean square drift.
func (l *Law) stream() {
	on, off, square := 0.0, 0.0, 0.0
	var f Flow
	for i := range l.all {
		b := &l.all[i]
		p := 1 / (1 + math.Exp(-b.affine.odds[constants]))
		on, off = on+b.weight*p, off+b.weight*(1-p)
		f.X, f.Y = f.X+b.weight*p*b.affine.on[0], f.Y+b.weight*p*b.affine.on[1]
		f.SD += b.weight * p * math.Hypot(b.affine.sd[0], b.affine.sd[1]) / math.Sqrt2
	}
	f.X, f.Y, f.SD = f.X/on, f.Y/on, f.SD/on
	f.Evidence = math.Log(on / max(off, math.SmallestNonzeroFloat64))
	for _, mean := range l.mean() {
		moved := make([]float64, len(mean))
		l.field.gram.times(moved, mean)
		for i, v := range mean {
			square += v * moved[i] * l.field.unit
		}
	}
	if f.Evidence > 0 && f.X*f.X+f.Y*f.Y > square/2 {
		l.Flow = &f
	}
}
