package locate

import "math"

// Two spots closer than 2.4 sds have one common maximum, and after the fit of one spot the residual has no clear maximum. But the fitted spot is longer than
// the template. Let two halves of a spot of amplitude a lie at a distance of ±δ along u. To second order in δ, they differ from the whole spot by
//
//	(a δ²/2) u' H u        H the template's second derivatives
//
// so if Σ Kᵢⱼ Hᵢⱼ is fitted to the residual together with changes of amplitude and position, K is (a δ²/2) u u', whose eigenvalues differ. A spot out of focus
// is wider in all directions. Its eigenvalues are equal, so it is not split.
const (
	splitScore = 6.0 // smallest score of a spot to test; half of a weaker spot would hardly be a spot
	splitSDs   = 4.0 // a spot is split if its eigenvalues differ by more than this, in standard deviations of the difference
	leastSplit = 0.6 // bounds of the initial half distance, sds of the template
	mostSplit  = 1.4
)

// split splits the spots that are longer than the template, and returns their number.
func (l *Locator) split() int {
	l.halved = l.halved[:0]
	l.measure()
	if !l.shaped {
		tau := shapeScatter(l.longs)
		l.ownLength, l.shaped = tau*reachOf(len(l.longs)), true
	}
	for _, g := range l.longs {
		s := &l.spots[g.spot]
		if !(g.e > math.Hypot(splitSDs*g.sd, l.ownLength)) {
			s.whole = true
			continue
		}
		if len(l.spots) >= 2*l.o.Max {
			continue
		}
		l.light(s, 1)
		half := spot{x: s.x - g.dx, y: s.y - g.dy, a: s.a / 2}
		*s = spot{x: s.x + g.dx, y: s.y + g.dy, a: s.a / 2}
		for _, o := range []*spot{s, &half} {
			o.x, o.y = min(max(o.x, 0), float64(l.w-1)), min(max(o.y, 0), float64(l.h-1))
			l.light(o, -1)
		}
		l.spots = append(l.spots, half)
		l.halved = append(l.halved, g.spot)
	}
	return len(l.halved)
}

// mend joins the halves of a recent split again if the joint fit gives either half a score below the threshold. Two spots that almost coincide score close to
// 0, so neither would be found.
func (l *Locator) mend() {
	first := len(l.spots) - len(l.halved)
	for k := len(l.halved) - 1; k >= 0; k-- {
		i, h := l.halved[k], first+k
		s, half := &l.spots[i], &l.spots[h]
		if min(s.score, half.score) >= l.o.Threshold {
			continue
		}
		l.light(s, 1)
		l.light(half, 1)
		share := half.a / (s.a + half.a)
		*s = spot{x: s.x + share*(half.x-s.x), y: s.y + share*(half.y-s.y), a: s.a + half.a}
		l.light(s, -1)
		last := len(l.spots) - 1
		l.spots[h] = l.spots[last]
		l.spots = l.spots[:last]
		for range fitSteps {
			if l.step(l.spots[i : i+1]) {
				break
			}
		}
		l.spots[i].whole = true
	}
}

// powers are the exponents of u and v in T, in its derivatives by position, and in H. The products T uᵖ vᵠ span the same functions as T, its derivatives and H,
// because H's entries are T (u² - 1), T (v² - 1) and T u v.
var powers = [orders][2]int{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {0, 2}, {1, 1}}

const orders = 6

// secondOrder returns the normal equations for the fit of the products T uᵖ vᵠ to the residual of all spots, around one spot.
func (l *Locator) secondOrder(s *spot) (gram [orders * orders]float64, right [orders]float64) {
	l.patchOf(&l.patch, s.x, s.y)
	m := &l.moments
	l.lanes.Sum(m, &l.field, &l.patch, 4)
	for i, p := range powers {
		right[i] = m.Single[p[0]][p[1]]
		for j, q := range powers {
			gram[i*orders+j] = m.Square[p[0]+q[0]][p[1]+q[1]]
		}
		gram[i*orders+i] *= 1 + 1e-6
	}
	return gram, right
}

// measure lists the elongations of the strong spots that have moved since the last check.
func (l *Locator) measure() {
	l.longs = l.longs[:0]
	for i := range l.spots {
		s := &l.spots[i]
		if s.whole || s.score < splitScore {
			continue
		}
		g, ok := l.elongation(s)
		if !ok {
			s.whole = true
			continue
		}
		g.spot = int32(i)
		l.longs = append(l.longs, g)
	}
}

// elongation returns the elongation of a spot over the template, or false if the spot is not longer.
func (l *Locator) elongation(s *spot) (g long, ok bool) {
	gram, right := l.secondOrder(s)
	root, k := gram, right
	if !cholesky(root[:], orders) {
		return g, false
	}
	backsolve(root[:], k[:], orders)
	// the difference of the eigenvalues is 2 √(((Kxx-Kyy)/2)² + Kxy²); the tangent of twice the angle of the long axis is 2 Kxy/(Kxx-Kyy)
	c, b := (k[3]-k[4])/2, k[5]/2
	difference := 2 * math.Hypot(c, b)
	if !(difference > 0) {
		return g, false
	}
	cos, sin := 2*c/difference, 2*b/difference        // cosine and sine of twice the angle
	along := [orders]float64{3: cos, 4: -cos, 5: sin} // ∂difference/∂k
	forward(root[:], along[:], 3)
	variance := 0.0 // along' (L L')⁻¹ along
	for _, v := range along[3:] {
		variance += v * v
	}
	half := (k[3]+k[4])/2 + difference/2
	if !(half > 0) {
		return g, false
	}
	d := l.template.sd * min(max(math.Sqrt(2*half/s.a), leastSplit), mostSplit)
	return long{e: difference / s.a, sd: math.Sqrt(variance) / s.a, dx: d * math.Sqrt((1+cos)/2), dy: d * math.Copysign(math.Sqrt((1-cos)/2), sin)}, true
}
