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
	ways    [mostShared][mostPatch]float32 // from the place along x, in sds
	weights [mostShared][]float32          // 1/var over the patch
	shared  [4][mostPatch]float32          // of two members: T T, T u T, T T u and T u T u along x
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
		solved := true
		for k := int32(i); k >= 0; k = c.next[k] {
			c.members = append(c.members, k)
			solved = solved && l.spots[k].solved
		}
		if solved {
			continue
		}
		if len(c.members) > mostShared {
			l.alone(c.members)
			continue
		}
		l.solveAll()
		for _, k := range c.members {
			l.spots[k].solved, l.spots[k].whole, l.spots[k].last = true, false, move{}
		}
	}
}

// solveAll moves the cluster's members together until they rest.
func (l *Locator) solveAll() {
	for step := range sharedSteps {
		if l.solve(step == sharedSteps-1) < resting {
			l.solve(true)
			return
		}
	}
}

// alone moves spots that do not rest, each in what the others leave.
func (l *Locator) alone(members []int32) {
	for range fitSteps {
		for _, i := range members {
			l.step(l.spots[i : i+1])
		}
	}
}

// link puts spots that share light into clusters.
func (l *Locator) link() {
	c, n := &l.cluster, len(l.spots)
	c.group, c.next = slices.Grow(c.group[:0], n)[:n], slices.Grow(c.next[:0], n)[:n]
	l.place()
	for i := range l.spots {
		c.group[i], c.next[i] = int32(i), -1
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

// place puts all spots into the grid.
func (l *Locator) place() {
	l.grid.Clear()
	for i := range l.spots {
		l.grid.Add(int32(i), l.spots[i].x, l.spots[i].y)
	}
}

// solve takes one step of the cluster's members together, and returns the longest move of one. With told it sets scores and variances.
func (l *Locator) solve(told bool) float64 {
	c := &l.cluster
	k := len(c.members)
	n := 3 * k
	clear(c.normal[:n*n])
	for a, i := range c.members {
		l.weigh(a, &l.spots[i])
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
		was := s.a
		s.a = max(s.a+c.right[3*a], 1e-3*s.a)
		s.score *= s.a / was
		s.x, s.y = min(max(s.x+dx, 0), float64(l.w-1)), min(max(s.y+dy, 0), float64(l.h-1))
		l.light(s, -1)
		longest = max(longest, math.Hypot(dx, dy))
	}
	return longest
}

// tell sets what the inverse of the normal matrix says of every member: with its root L, the diagonal is the squared lengths of L's inverse's columns.
func (l *Locator) tell(n int) {
	c := &l.cluster
	var column [3 * mostShared]float64
	for a, i := range c.members {
		s := &l.spots[i]
		for j, out := range []*float64{&s.score, &s.varX, &s.varY} {
			first := 3*a + j
			clear(column[:n])
			column[first] = 1
			forward(c.root[:n*n], column[:n], first)
			*out = 0
			for _, v := range column[first:n] {
				*out += v * v
			}
		}
		s.score = s.a / math.Sqrt(max(s.score, 1e-300))
	}
}

// weigh sets the patch of member a, what its pixels weigh, and its right-hand sides, in what all spots leave there.
func (l *Locator) weigh(a int, s *spot) {
	c, p, sd := &l.cluster, &l.cluster.patches[a], l.kernel.sd
	l.patchOf(p, s.x, s.y)
	n := p.x1 - p.x0
	tx, ways := p.tx[:n], c.ways[a][:n]
	for i := range ways {
		ways[i] = float32((float64(p.x0+i) - s.x) / sd)
	}
	c.weights[a] = slices.Grow(c.weights[a][:0], n*(p.y1-p.y0))[:n*(p.y1-p.y0)]
	var right [3]float64
	for y := p.y0; y < p.y1; y++ {
		at := y*l.w + p.x0
		residual, picture, weights := l.residual[at:][:n], l.picture[at:][:n], c.weights[a][(y-p.y0)*n:][:n]
		var r, ru float32
		for i, left := range residual {
			w := l.precision.at(picture[i] - left)
			weights[i] = w
			w *= left * tx[i]
			r += w
			ru += w * ways[i]
		}
		t := float64(p.ty[y-p.y0])
		right[0] += t * float64(r)
		right[1] += t * float64(ru)
		right[2] += t * float64(r) * (float64(y) - s.y) / sd
	}
	k := s.a / sd // ∂model/∂x = k T u
	c.right[3*a], c.right[3*a+1], c.right[3*a+2] = right[0], k*right[1], k*right[2]
}

// accumulate sets the products of two members' gradients, summed where their patches overlap.
func (l *Locator) accumulate(a, b, n int) {
	c := &l.cluster
	p, q, s, o := &c.patches[a], &c.patches[b], &l.spots[c.members[a]], &l.spots[c.members[b]]
	x0, x1, y0, y1 := max(p.x0, q.x0), min(p.x1, q.x1), max(p.y0, q.y0), min(p.y1, q.y1)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	s0, s1, s2, s3 := c.shared[0][:x1-x0], c.shared[1][:x1-x0], c.shared[2][:x1-x0], c.shared[3][:x1-x0]
	for i := range s0 {
		u, v := c.ways[a][x0-p.x0+i], c.ways[b][x0-q.x0+i]
		t := p.tx[x0-p.x0+i] * q.tx[x0-q.x0+i]
		s0[i], s1[i], s2[i], s3[i] = t, t*u, t*v, t*u*v
	}
	sd := l.kernel.sd
	var sum [3][3]float64
	for y := y0; y < y1; y++ {
		var r0, r1, r2, r3 float32
		for i, w := range c.weights[a][(y-p.y0)*(p.x1-p.x0)+x0-p.x0:][:x1-x0] {
			r0 += w * s0[i]
			r1 += w * s1[i]
			r2 += w * s2[i]
			r3 += w * s3[i]
		}
		t := float64(p.ty[y-p.y0]) * float64(q.ty[y-q.y0])
		u, v := (float64(y)-s.y)/sd, (float64(y)-o.y)/sd
		t0, t1, t2 := t*float64(r0), t*float64(r1), t*float64(r2)
		sum[0][0] += t0
		sum[0][1] += t2
		sum[0][2] += t0 * v
		sum[1][0] += t1
		sum[1][1] += t * float64(r3)
		sum[1][2] += t1 * v
		sum[2][0] += t0 * u
		sum[2][1] += t2 * u
		sum[2][2] += t0 * u * v
	}
	scale := [3]float64{1, s.a / sd, s.a / sd}
	other := [3]float64{1, o.a / sd, o.a / sd}
	for i := range 3 {
		for j := range 3 {
			v := sum[i][j] * scale[i] * other[j]
			c.normal[(3*a+i)*n+3*b+j], c.normal[(3*b+j)*n+3*a+i] = v, v
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
	forward(m, b, 0)
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= m[k*n+i] * b[k]
		}
		b[i] /= m[i*n+i]
	}
}

// forward solves L x = b in place, where b is nothing before its entry first.
func forward(m, b []float64, first int) {
	n := len(b)
	for i := first; i < n; i++ {
		row, v := m[i*n:(i+1)*n], b[i]
		for k := first; k < i; k++ {
			v -= row[k] * b[k]
		}
		b[i] = v / row[i]
	}
}
