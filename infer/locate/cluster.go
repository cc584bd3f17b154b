package locate

import (
	"math"
	"slices"
)

// Spots that share light are solved for together: one Gauss-Newton step of all their amplitudes and places. The inverse of its normal matrix says how
// well each is known beside the others, so that one spot that was taken for two has two scores of next to nothing.
const (
	sharedReach = 3.6 // sds of the template within which two spots share light
	mostShared  = 12  // spots that are solved for together; of a larger group each is solved alone
	sharedSteps = 5
	damping     = 1e-3 // of the normal matrix's diagonal
)

// cluster is scratch for the spots that are solved for together.
type cluster struct {
	members []int32
	group   []int32 // a spot: the first of its cluster
	next    []int32 // a spot: the next one of its cluster, -1
	patches [mostShared]patch
	grads   [mostShared][3][]float64 // ∂model/∂(a, x, y) over the patch
	weights [mostShared][]float64
	lefts   [mostShared][]float64
	normal  [9 * mostShared * mostShared]float64
	root    [9 * mostShared * mostShared]float64
	right   [3 * mostShared]float64
}

// joint solves every cluster.
func (l *Locator) joint() {
	c := &l.cluster
	l.link()
	for i := range l.spots {
		if c.group[i] != int32(i) || c.next[i] < 0 {
			continue
		}
		c.members = c.members[:0]
		for k := int32(i); k >= 0; k = c.next[k] {
			c.members = append(c.members, k)
		}
		if len(c.members) > mostShared {
			continue
		}
		for step := range sharedSteps {
			if l.solve(step == sharedSteps-1) < resting {
				l.solve(true)
				break
			}
		}
	}
}

// link puts spots that share light into clusters.
func (l *Locator) link() {
	c, n := &l.cluster, len(l.spots)
	c.group, c.next = slices.Grow(c.group[:0], n)[:n], slices.Grow(c.next[:0], n)[:n]
	l.grid.Clear()
	for i := range l.spots {
		c.group[i], c.next[i] = int32(i), -1
		l.grid.Add(int32(i), l.spots[i].x, l.spots[i].y)
	}
	root := func(i int32) int32 {
		for c.group[i] != i {
			c.group[i] = c.group[c.group[i]]
			i = c.group[i]
		}
		return i
	}
	reach := sharedReach * l.kernel.sd
	for i := range l.spots {
		s := &l.spots[i]
		l.grid.Near(s.x, s.y, reach, func(k int32) {
			o := &l.spots[k]
			if int(k) <= i || math.Hypot(o.x-s.x, o.y-s.y) >= reach {
				return
			}
			if a, b := root(int32(i)), root(k); a != b {
				c.group[max(a, b)] = min(a, b)
			}
		})
	}
	for i := n - 1; i >= 0; i-- { // lists in the order of spots, each behind its first
		r := root(int32(i))
		c.group[i] = r
	}
	last := l.lasts[:0]
	for i := range n {
		last = append(last, int32(i))
		if r := c.group[i]; int(r) != i {
			c.next[last[r]] = int32(i)
			last[r] = int32(i)
		}
	}
	l.lasts = last
}

// solve takes one step of the cluster's members together, and returns the longest move of one. With told it sets scores and variances.
func (l *Locator) solve(told bool) float64 {
	c := &l.cluster
	k := len(c.members)
	n := 3 * k
	clear(c.normal[:n*n])
	clear(c.right[:n])
	for a, i := range c.members {
		l.gradients(a, &l.spots[i])
	}
	for a := range k {
		for b := 0; b <= a; b++ {
			l.accumulate(a, b, n)
		}
	}
	copy(c.root[:n*n], c.normal[:n*n])
	for i := range n {
		c.root[i*n+i] *= 1 + damping
		if i%3 != 0 {
			c.root[i*n+i] += leastWeight
		} else {
			c.root[i*n+i] += 1e-9
		}
	}
	if !cholesky(c.root[:n*n], n) {
		return 0
	}
	if told {
		l.tell(n)
	}
	backsolve(c.root[:n*n], c.right[:n], n)
	longest := 0.0
	for a, i := range c.members {
		s := &l.spots[i]
		dx, dy := min(max(c.right[3*a+1], -mostStep), mostStep), min(max(c.right[3*a+2], -mostStep), mostStep)
		l.lightIn(&c.patches[a], s.a)
		s.a = max(s.a+c.right[3*a], 1e-3*s.a)
		s.x, s.y = min(max(s.x+dx, 0), float64(l.w-1)), min(max(s.y+dy, 0), float64(l.h-1))
		l.light(s, -1)
		longest = max(longest, math.Hypot(dx, dy))
	}
	return longest
}

// tell sets what the inverse of the normal matrix says of every member.
func (l *Locator) tell(n int) {
	c := &l.cluster
	var unit [3 * mostShared]float64
	for a, i := range c.members {
		s := &l.spots[i]
		for j, out := range []*float64{&s.score, &s.varX, &s.varY} {
			clear(unit[:n])
			unit[3*a+j] = 1
			backsolve(c.root[:n*n], unit[:n], n)
			*out = unit[3*a+j]
		}
		s.score = s.a / math.Sqrt(max(s.score, 1e-300))
	}
}

// gradients sets the patch of member a, its gradients, weights, and what all spots leave there.
func (l *Locator) gradients(a int, s *spot) {
	c, p, noise := &l.cluster, &l.cluster.patches[a], l.noise
	l.patchOf(p, s.x, s.y)
	w, h := p.x1-p.x0, p.y1-p.y0
	for j := range c.grads[a] {
		c.grads[a][j] = slices.Grow(c.grads[a][j][:0], w*h)[:w*h]
	}
	c.weights[a], c.lefts[a] = slices.Grow(c.weights[a][:0], w*h)[:w*h], slices.Grow(c.lefts[a][:0], w*h)[:w*h]
	inverse, floor := 1/(l.kernel.sd*l.kernel.sd), noise.Floor()
	for y := range h {
		at := (p.y0+y)*l.w + p.x0
		dy := (float64(p.y0+y) - s.y) * inverse
		for x := range w {
			t, o := p.tx[x]*p.ty[y], y*w+x
			c.grads[a][0][o] = t
			c.grads[a][1][o] = s.a * t * (float64(p.x0+x) - s.x) * inverse
			c.grads[a][2][o] = s.a * t * dy
			left := float64(l.residual[at+x])
			c.lefts[a][o] = left
			c.weights[a][o] = 1 / max(noise.Read+noise.Gain*(float64(l.picture[at+x])-left), floor)
		}
	}
}

// accumulate adds the products of two members' gradients, where their patches overlap.
func (l *Locator) accumulate(a, b, n int) {
	c := &l.cluster
	p, q := &c.patches[a], &c.patches[b]
	x0, x1, y0, y1 := max(p.x0, q.x0), min(p.x1, q.x1), max(p.y0, q.y0), min(p.y1, q.y1)
	var sum [3][3]float64
	for y := y0; y < y1; y++ {
		i, j := (y-p.y0)*(p.x1-p.x0)-p.x0, (y-q.y0)*(q.x1-q.x0)-q.x0
		for x := x0; x < x1; x++ {
			w := c.weights[a][i+x]
			for u := range 3 {
				g := w * c.grads[a][u][i+x]
				sum[u][0] += g * c.grads[b][0][j+x]
				sum[u][1] += g * c.grads[b][1][j+x]
				sum[u][2] += g * c.grads[b][2][j+x]
				if a == b {
					c.right[3*a+u] += g * c.lefts[a][i+x]
				}
			}
		}
	}
	for u := range 3 {
		for v := range 3 {
			c.normal[(3*a+u)*n+3*b+v] = sum[u][v]
			c.normal[(3*b+v)*n+3*a+u] = sum[u][v]
		}
	}
}

// cholesky replaces m, n × n, by its lower root; false where it is not positive.
func cholesky(m []float64, n int) bool {
	for j := range n {
		for i := j; i < n; i++ {
			v := m[i*n+j]
			for k := range j {
				v -= m[i*n+k] * m[j*n+k]
			}
			if i > j {
				m[i*n+j] = v / m[j*n+j]
			} else if !(v > 0) {
				return false
			} else {
				m[j*n+j] = math.Sqrt(v)
			}
		}
	}
	return true
}

// backsolve solves L L' x = b in place.
func backsolve(m, b []float64, n int) {
	for i := range n {
		for k := range i {
			b[i] -= m[i*n+k] * b[k]
		}
		b[i] /= m[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= m[k*n+i] * b[k]
		}
		b[i] /= m[i*n+i]
	}
}
