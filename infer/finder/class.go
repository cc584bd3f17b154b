package finder

import (
	"cmp"
	"math"
	"slices"
)

// lonely drops each blob that touches a stronger one of the other polarity, because a ring or a halo is not an object. It also drops blobs larger than a ninth
// of the picture.
func (l *learning) lonely(all []blob) (kept []blob) {
	all = slices.DeleteFunc(all, func(b blob) bool { return b.s > float64(min(l.w, l.h))/9 })
	if len(all) > 600 {
		all = all[:600]
	}
	for i := range all {
		a := &all[i]
		if !slices.ContainsFunc(all, func(b blob) bool {
			return b.p != a.p && b.r > 1.5*a.r && math.Hypot(b.x-a.x, b.y-a.y) < 2.2*(a.s+b.s)
		}) {
			kept = append(kept, *a)
		}
	}
	return kept
}

// class chooses the polarity and the scale that explain the largest share of the strong blobs.
func (l *learning) class() {
	var all []blob
	for _, b := range l.apart {
		all = append(all, b...)
	}
	energy := func(b *blob) float64 { return b.r * b.r * b.s * b.s }
	best, total := -1., 0.
	for i := range all {
		total += energy(&all[i])
	}
	near := func(b *blob, s, reach float64) bool { return math.Abs(math.Log2(b.s/s)) < reach }
	for _, p := range []float64{1, -1} {
		for _, s := range l.scales {
			e := 0.
			for i := range all {
				if b := &all[i]; b.p == p && near(b, s, .8) {
					e += energy(b)
				}
			}
			if e > best {
				best, l.sign, l.Scale = e, p, s
			}
		}
	}
	other, others, same := 0., 0, 0
	for i := range all {
		b := &all[i]
		if b.p == -l.sign && near(b, l.Scale, 1.1) {
			other, others = other+energy(b), others+1
		}
		if b.p == l.sign && near(b, l.Scale, .8) {
			same++
		}
	}
	l.Share = best / total
	l.both = other > .35*best && float64(others) > .5*float64(same) && same > 5*len(l.frames)
	l.Dark, l.Ringed = l.sign < 0, l.both
}

// cells reports whether the fine blobs are the texture of several large bodies: most blobs lie in such bodies, at least four in each, and the bodies explain
// more of the picture. If so, it changes the class to the bodies.
func (l *learning) cells() bool {
	energy := func(b *blob) float64 { return b.r * b.r * b.s * b.s }
	for _, p := range []float64{1, -1} {
		var inside, each, ratio, number, scale []float64
		for k := range l.frames {
			var large []blob
			for _, b := range l.every[k] {
				if b.p == p && b.s >= 2.8*l.Scale && b.s <= float64(min(l.w, l.h))/9 {
					large = append(large, b)
				}
			}
			slices.SortFunc(large, func(a, b blob) int {
				return cmp.Or(cmp.Compare(energy(&b), energy(&a)), cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x))
			})
			var kept []blob
			for _, b := range large {
				if len(kept) > 0 && energy(&b) < .1*energy(&kept[0]) {
					break
				}
				if !slices.ContainsFunc(kept, func(c blob) bool { return math.Hypot(b.x-c.x, b.y-c.y) < 1.8*max(b.s, c.s) }) {
					kept = append(kept, b)
				}
			}
			var in, all, coarse, n float64
			for i := range kept {
				coarse += energy(&kept[i])
				scale = append(scale, kept[i].s)
			}
			for i := range l.apart[k] {
				c := &l.apart[k][i]
				if c.s > 1.5*l.Scale {
					continue
				}
				all += energy(c)
				if slices.ContainsFunc(kept, func(b blob) bool { return math.Hypot(b.x-c.x, b.y-c.y) < 1.7*b.s }) {
					in += energy(c)
					n++
				}
			}
			number = append(number, float64(len(kept)))
			inside, each, ratio = append(inside, in/max(all, 1e-9)), append(each, n/max(float64(len(kept)), 1)), append(ratio, coarse/max(all, 1e-9))
		}
		if median(number) >= 2 && median(inside) > held && median(each) >= detail && median(ratio) > 1.5 {
			middle := median(scale)
			l.Scale = slices.MinFunc(l.scales, func(a, b float64) int { return cmp.Compare(math.Abs(a-middle), math.Abs(b-middle)) })
			l.sign, l.both = p, false
			l.Dark, l.Ringed = p < 0, false
			for i := range l.noise.kappa {
				l.noise.kappa[i] = 1
			}
			return true
		}
	}
	return false
}

// composed changes the class to one large body if the fine blobs are its texture.
func (l *learning) composed() {
	type sight struct{ inside, strong, number, scale float64 }
	var all []sight
	var first *blob
	best := 0.
	for k := range l.frames {
		var g *blob
		for i := range l.every[k] {
			b := &l.every[k][i]
			if b.z > l.z*l.noise.kappa[b.at] && b.s >= 2.8*l.Scale && b.s <= float64(min(l.w, l.h))/5 && (g == nil || b.r*b.s > g.r*g.s) {
				g = b
			}
		}
		if g == nil || len(l.apart[k]) == 0 {
			all = append(all, sight{})
			continue
		}
		if g.r*g.s > best {
			first, best = g, g.r*g.s
		}
		var sum, in, top, n float64
		for _, c := range l.apart[k] {
			e := c.r * c.r * c.s * c.s
			sum += e
			top = max(top, c.r)
			if math.Hypot(c.x-g.x, c.y-g.y) < 2.6*g.s {
				in += e
				n++
			}
		}
		all = append(all, sight{in / sum, g.r / top, n, g.s})
	}
	middle := func(of func(s *sight) float64) float64 {
		var v []float64
		for i := range all {
			v = append(v, of(&all[i]))
		}
		return median(v)
	}
	if middle(func(s *sight) float64 { return s.inside }) > .8 && middle(func(s *sight) float64 { return s.strong }) > .4 && middle(func(s *sight) float64 { return s.number }) >= 4 {
		scale := middle(func(s *sight) float64 { return s.scale })
		l.coarse, l.both, l.sign = true, false, first.p
		l.Scale = slices.MinFunc(l.scales, func(a, b float64) int { return cmp.Compare(math.Abs(a-scale), math.Abs(b-scale)) })
		l.Dark, l.Ringed = l.sign < 0, false
	}
}
