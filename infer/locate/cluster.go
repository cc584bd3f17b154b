package locate

import (
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
)

// Spots whose light overlaps are fitted together, by Gauss-Newton steps on all their amplitudes and positions. The inverse of the normal matrix gives the
// uncertainty of each spot, including the uncertainty of the others. If two spots are fitted to one object, both scores are close to 0.
const (
	sharedReach = 3.6 // distance up to which the light of two spots overlaps, sds of the template
	mostShared  = 12  // largest number of spots fitted together; each spot of a larger group is fitted alone
	sharedSteps = 5
	damping     = 1e-3 // as a fraction of the normal matrix's diagonal
)

// cluster holds the spots that are fitted together, and scratch memory.
type cluster struct {
	members []int32
	group   []int32 // first spot of each spot's cluster
	next    []int32 // next spot in each spot's cluster, or -1
	patches [mostShared]kernel.Patch
	blocks  kernel.Products
	normal  [9 * mostShared * mostShared]float64
	root    [9 * mostShared * mostShared]float64
	right   [3 * mostShared]float64
}

// joint fits every cluster that has changed.
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

// solveAll moves the cluster's members together until they are at rest or all steps are used.
func (l *Locator) solveAll() {
	for step := range sharedSteps {
		if l.solve(step == sharedSteps-1) < resting {
			l.solve(true)
			return
		}
	}
}

// alone moves each spot that is not yet at rest, in the residual of the others.
func (l *Locator) alone(members []int32) {
	for range fitSteps {
		for _, i := range members {
			l.step(l.spots[i : i+1])
		}
	}
}

// link groups spots whose light overlaps into clusters.
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
	reach := sharedReach * l.template.sd
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
	for i := n - 1; i >= 0; i-- { // from the end, so that each list keeps the order of the spots
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

// solve moves the cluster's members by one common step and returns the longest move of any member. If told is true, it also sets scores and variances.
func (l *Locator) solve(told bool) float64 {
	c := &l.cluster
	k := len(c.members)
	n := 3 * k
	clear(c.normal[:n*n])
	for a := range k {
		l.gradients(a, n)
		for b := range a {
			l.overlap(a, b, n)
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
	if slices.ContainsFunc(c.right[:n], func(v float64) bool { return v-v != 0 }) { // float32 overflow
		return 0
	}
	longest := 0.0
	for a, i := range c.members {
		s := &l.spots[i]
		dx, dy := min(max(c.right[3*a+1], -mostStep), mostStep), min(max(c.right[3*a+2], -mostStep), mostStep)
		was := s.a
		s.a = max(s.a+c.right[3*a], 1e-3*s.a)
		s.score *= s.a / was
		s.x, s.y = min(max(s.x+dx, 0), float64(l.w-1)), min(max(s.y+dy, 0), float64(l.h-1))
		l.relight(&c.patches[a], was, s, -1)
		longest = max(longest, math.Hypot(dx, dy))
	}
	return longest
}

// tell sets every member's score and variances from the diagonal of the inverse normal matrix. The diagonal elements are the squared lengths of the columns of
// L⁻¹, where L is the Cholesky factor.
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

// gradients sets the patch of member a, the products of its gradients, and its right-hand sides from the residual of all spots.
func (l *Locator) gradients(a, n int) {
	c, m := &l.cluster, &l.moments
	s, p := &l.spots[c.members[a]], &c.patches[a]
	l.patchOf(p, s.x, s.y)
	l.lanes.Sum(m, &l.field, p, 2)
	k := s.a / l.template.sd // ∂model/∂x = k T u
	c.right[3*a], c.right[3*a+1], c.right[3*a+2] = m.Single[0][0], k*m.Single[1][0], k*m.Single[0][1]
	c.blocks = kernel.Products{
		{m.Square[0][0], m.Square[1][0], m.Square[0][1]},
		{m.Square[1][0], m.Square[2][0], m.Square[1][1]},
		{m.Square[0][1], m.Square[1][1], m.Square[0][2]},
	}
	l.enter(a, a, n)
}

// overlap computes the products of two members' gradients.
func (l *Locator) overlap(a, b, n int) {
	c := &l.cluster
	l.lanes.Overlap(&c.blocks, &l.field, &c.patches[a], &c.patches[b])
	l.enter(a, b, n)
}

// enter writes the products of two members' gradients into the normal matrix.
func (l *Locator) enter(a, b, n int) {
	c, sd := &l.cluster, l.template.sd
	k, o := l.spots[c.members[a]].a/sd, l.spots[c.members[b]].a/sd
	scale, other := [3]float64{1, k, k}, [3]float64{1, o, o}
	for i := range 3 {
		for j := range 3 {
			v := c.blocks[i][j] * scale[i] * other[j]
			c.normal[(3*a+i)*n+3*b+j], c.normal[(3*b+j)*n+3*a+i] = v, v
		}
	}
}

// cholesky replaces m, n × n, by its lower Cholesky factor. It returns false if m is not positive definite.
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

// forward solves L x = b in place. The entries of b before index first are 0.
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
