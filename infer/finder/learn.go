package finder

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Kind is what a film shows.
type Kind uint8

const (
	Nothing Kind = iota // no object stands out
	One                 // one object with a look of its own
	OneBody             // one object that bends or turns
	Few                 // up to five objects
	Many                // more
	Bodies              // objects with extent
)

func (k Kind) String() string {
	return [...]string{"nothing", "one", "one body", "few", "many", "bodies"}[k]
}

// Sample is what Learn looks at: frames of the whole film, in order, some of them successive.
type Sample struct {
	Frames []Picture
	At     []int // of each frame, its number in the film
	Force  Force // what a person says of the film
}

// Force is what a person says that a film shows.
type Force string

const (
	Free        Force = ""       // the finder decides
	ForceOne    Force = "one"    // one object
	ForceMany   Force = "many"   // objects without extent
	ForceBodies Force = "bodies" // objects with extent
)

// Wanted is which frames of a film of n make a good sample: ten places, each with the frame after it.
func Wanted(n int) (at []int) {
	for _, k := range spread(max(n-1, 1), looks) {
		at = append(at, k)
		if k+1 < n {
			at = append(at, k+1)
		}
	}
	return slices.Compact(at)
}

// Finder is what was learnt of a film. Find may be called from several goroutines.
type Finder struct {
	Kind     Kind
	Scale    float64 // of the objects, px: the sd of a spot like them
	Dark     bool    // darker than the ground
	Ringed   bool    // both polarities
	Count    float64 // objects a frame, in the median
	Strength float64 // median strength over the noise
	Share    float64 // of what stands out, the share that these objects explain
	Depth    float64 // of the valley between objects and what is weaker, 0 to 1
	Area     float64 // usual area of a body, px²
	Alike    float64 // how much the looks of a single object agree, 0 to 1
	Lamp     float64 // how much the lamp swings, in parts of the picture's range
	Shift    bool    // the whole field moves

	w, h     int
	lamp     *lamp
	scales   []float64
	sign     float64
	both     bool
	coarse   bool // one large body made of fine ones
	noise    *noise
	first    int // the class's levels: scales[first:last]
	window   []float64
	with     filter
	z        float64 // significance of a place
	low      float64 // weak finds from low times z on are kept where a track wants them
	least    float64 // strength
	height   float64 // of a body over its background
	extended bool
	template *template
	reach    float64 // how far an object goes in a frame
}

// errSmall is for pictures in which nothing can be found.
var errSmall = errors.New("a picture of less than 8 x 8 pixels has no room for an object")

// Learn decides what a film shows.
func Learn(in Sample) (*Finder, error) {
	w, h := in.Frames[0].W, in.Frames[0].H
	if min(w, h) < 8 {
		return nil, errSmall
	}
	f := &Finder{w: w, h: h, lamp: newLamp(in.Frames), low: 1, z: tail(falseFinds / (float64(w*h) / .64))}
	f.Lamp = f.lamp.swing
	for s := smallest; s <= float64(min(w, h))/3; s *= math.Sqrt2 {
		f.scales = append(f.scales, s)
	}
	frames := make([]Picture, len(in.Frames))
	run(len(frames), func(k int) { frames[k], _ = f.lamp.correct(in.Frames[k]) })
	var pairs [][2]Picture
	var look []Picture
	for k := range frames {
		if k == 0 || in.At[k] > in.At[k-1]+1 || len(look) < k/2+1 {
			look = append(look, frames[k])
		}
		if k > 0 && in.At[k] == in.At[k-1]+1 {
			pairs = append(pairs, [2]Picture{frames[k-1], frames[k]})
		}
	}
	if len(pairs) == 0 { // a single picture: its own shift stands in for a second frame
		pairs = [][2]Picture{{frames[0], rolled(frames[0])}}
	}
	var six [][2]Picture
	for _, k := range spread(len(pairs), 6) {
		six = append(six, pairs[k])
	}
	still, by, moving := registered(six)
	f.Shift = moving > .5
	f.noise = newNoise(frames, still, f.scales, laplace)
	l := &learning{Finder: f, frames: look, pairs: still, all: frames, raw: six, by: by, force: in.Force}
	l.decide()
	return f, nil
}

func rolled(a Picture) Picture {
	b := NewPicture(a.W, a.H)
	for y := range a.H {
		copy(b.row(y), a.row(y)[1:])
		b.row(y)[a.W-1] = a.row(y)[0]
	}
	return b
}

// learning is what Learn needs and Find does not.
type learning struct {
	*Finder
	frames []Picture // looked at
	pairs  [][2]Picture
	raw    [][2]Picture // the pairs before the field's shift was taken out of them
	by     [][2]float64 // that shift
	force  Force
	all    []Picture // the whole sample
	every  [][]blob  // of each frame, all extrema of the scale space
	apart  [][]blob  // of each frame, those that stand alone and are nobody's satellites
}

func (l *learning) decide() {
	n := len(l.frames)
	l.every, l.apart = make([][]blob, n), make([][]blob, n)
	run(n, func(k int) {
		levels := make([]level, len(l.scales))
		for i, s := range l.scales {
			levels[i] = look(l.frames[k], s, laplace)
		}
		plain := *l.noise // cells side by side are no texture of a coarse scale yet
		plain.kappa = slices.Repeat([]float64{1}, len(l.scales))
		l.every[k] = extrema(levels, 0, &plain, blur(l.frames[k], 2), l.z, []float64{1, -1}, true)
		l.apart[k] = l.lonely(alone(slices.DeleteFunc(slices.Clone(l.every[k]), func(b blob) bool { return b.z < l.z*l.noise.kappa[b.at] }), l.w, l.h, 1.8))
	})
	count := 0
	for _, b := range l.apart {
		count += len(b)
	}
	if float64(count) < max(1, .15*float64(n)) {
		return
	}
	l.class()
	if !l.cells() {
		l.composed()
	}
	l.window, l.first = nil, -1
	for i, s := range l.scales {
		if math.Abs(math.Log2(s/l.Scale)) < .55 && !l.coarse || l.coarse && s == l.Scale {
			if l.first < 0 {
				l.first = i
			}
			l.window = append(l.window, s)
		}
	}
	l.threshold()
}

// lonely drops a blob that touches a stronger one of the other polarity: a ring or a halo is no object of its own. So are blobs of more than a ninth of
// the picture.
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

// class chooses the polarity and the scale that explain most of what stands out.
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

// cells tells whether the fine blobs are the texture inside several large bodies: most of them lie in such bodies, at least four in each, and the bodies
// explain more of the picture than they do.
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
		if median(number) >= 2 && median(inside) > .8 && median(each) >= 4 && median(ratio) > 1.5 {
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

// composed tells whether the fine blobs are the texture of one large body.
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

// threshold finds the strength from which on a blob of the class is an object, how many there are, and of what kind.
func (l *learning) threshold() {
	n := len(l.frames)
	found := make([][]blob, n)
	joints := make([][][2]float64, n)
	run(n, func(k int) { found[k], joints[k] = l.detect(l.frames[k], l.z, 0) })
	var r []float64
	for _, b := range found {
		for i := range b {
			r = append(r, b[i].r)
		}
	}
	if len(r) == 0 {
		l.Scale = 0
		return
	}
	l.least, l.Depth = valley(r, n, slices.Min(r)*.999)
	if l.coarse {
		l.least = 0
	}
	joined, sure := 0., 0.
	var z, dominance []float64
	for k, b := range found {
		for _, j := range joints[k] {
			if min(j[0], j[1]) > max(l.least, .4*max(j[0], j[1])) {
				joined++
			}
		}
		sum, top := 0., 0.
		for i := range b {
			e := b[i].r * b[i].s * b[i].r * b[i].s
			sum, top = sum+e, max(top, e)
			if b[i].r > l.least {
				sure++
				z = append(z, b[i].z)
			}
		}
		if sum > 0 {
			dominance = append(dominance, top/sum)
		}
	}
	l.Count = l.count(found, l.least)
	joined /= max(1, sure)
	l.Strength = median(z)
	a75, a50 := l.areas(found)
	l.extended = joined > .3 || a75 > 9 || a50 > 22 && a75 > 5
	if l.Depth == 0 && l.Strength < 3*l.z {
		l.low = .6
		found = l.sensitive(found)
	}
	if l.force == Free && (!l.significant(found) || l.texture(found)) {
		return
	}
	switch {
	case l.force == ForceOne || l.force == Free && (l.coarse || l.Count <= 1.5 || median(dominance) > .85):
		l.Kind = One
		l.single(found)
	case l.force == ForceBodies || l.force == Free && l.extended:
		l.Kind = Bodies
		l.usual()
	default:
		if l.Kind = Many; l.Count <= 5 {
			l.Kind = Few
		}
		l.common(found, a50)
	}
}

// common learns the look that many objects share, or, where they share none, their usual area.
func (l *learning) common(found [][]blob, a50 float64) {
	if l.both {
		return
	}
	r := int(math.Round(2.2*l.Scale)) + 1
	var frames []Picture
	var x, y []float64
	for k, all := range found {
		n := 0
		for i := range all {
			b := &all[i]
			far := float64(r) + 1
			if n == 6 || b.r <= l.least || min(b.x, b.y) < far || b.x > float64(l.w)-far || b.y > float64(l.h)-far {
				continue
			}
			if slices.ContainsFunc(all, func(c blob) bool { d := math.Hypot(c.x-b.x, c.y-b.y); return d > 0 && d < 1.6*float64(r) }) {
				continue
			}
			n++
			frames, x, y = append(frames, l.frames[k]), append(x, b.x), append(y, b.y)
		}
	}
	if len(x) >= 8 {
		t := newTemplate(r)
		t.learn(frames, x, y)
		if l.Alike = l.noiseless(t.ncc, frames, x, y, r); l.Alike > .9 {
			l.template = t
			return
		}
	}
	if l.Scale > 3 {
		l.Area = a50 * l.Scale * l.Scale
	}
}

// significant tells whether noise alone does not give what was found: in two frames and a seventh of all, a blob of which noise gives a hundredth in
// the whole sample, or far more blobs a frame than noise gives.
func (l *learning) significant(found [][]blob) bool {
	n := float64(len(found))
	strict := 1.15 * tail(.01/(n*2*float64(len(l.scales))*float64(l.w*l.h)/.64))
	sure, number := 0., 0.
	for _, b := range found {
		if slices.ContainsFunc(b, func(b blob) bool { return b.z > strict }) {
			sure++
		}
		number += float64(len(b))
	}
	return sure >= max(min(2, n), n/7) || number/n > max(3, 5*falseFinds*2*float64(len(l.window)))
}

// texture tells whether what was found is the ground's own look: it stays where the field is, and the picture at its scale is distributed as a Gaussian
// random field, not as ground with objects on it.
func (l *learning) texture(found [][]blob) bool {
	if l.Depth > .9 { // a valley parts the objects from what is weaker
		return false
	}
	peaked := make([]float64, len(l.frames))
	run(len(peaked), func(k int) {
		v := look(l.frames[k], l.window[len(l.window)/2], l.with)
		peaked[k] = kurtosis(v.P)
	})
	if median(peaked) > 6 {
		return false
	}
	if len(l.raw) == 0 {
		return true
	}
	stay, all := 0., 0.
	for k, p := range l.raw {
		a, _ := l.detect(p[0], l.z, l.least)
		b, _ := l.detect(p[1], l.z, l.least)
		for _, q := range a {
			all++
			if slices.ContainsFunc(b, func(c blob) bool {
				return math.Hypot(c.x-q.x-l.by[k][0], c.y-q.y-l.by[k][1]) < .5
			}) {
				stay++
			}
		}
	}
	return stay > .5*all
}

// kurtosis is the fourth central moment over the square of the second: 3 for a Gaussian field.
func kurtosis(v []float32) float64 {
	var m, q, f float64
	for _, x := range v {
		m += float64(x)
	}
	m /= float64(len(v))
	for _, x := range v {
		d := float64(x) - m
		q, f = q+d*d, f+d*d*d*d
	}
	return f * float64(len(v)) / max(q*q, 1e-30)
}

func (l *learning) count(found [][]blob, least float64) float64 {
	var v []float64
	for _, b := range found {
		c := 0.
		for i := range b {
			if b[i].r > least {
				c++
			}
		}
		v = append(v, c)
	}
	return median(v)
}

// sensitive tries the matched filter where the noise limits, and keeps it if it finds as much at the same rate of false finds.
func (l *learning) sensitive(before [][]blob) [][]blob {
	for i := range l.window {
		if l.noise.kappa[l.first+i] >= 1.15 {
			return before
		}
	}
	old := *l.Finder
	l.with, l.window, l.first, l.least = matched, []float64{l.Scale / math.Pow(2, .25)}, 0, 0
	l.noise = newNoise(l.all, l.pairs, l.window, matched)
	found := make([][]blob, len(l.frames))
	run(len(found), func(k int) { found[k], _ = l.detect(l.frames[k], l.z, 0) })
	c := l.count(found, 0)
	if c < .98*old.Count || l.noise.kappa[0] >= 1.3 {
		l.with, l.window, l.first, l.least, l.noise = old.with, old.window, old.first, old.least, old.noise
		return before
	}
	l.Count = c
	return found
}

// areas are the medians of the area above 3/4 and above 1/2 of the height around a blob, in squares of the scale. They also set the height.
func (l *learning) areas(found [][]blob) (a75, a50 float64) {
	type sight struct{ a, b, h float64 }
	seen := make([][]sight, len(found))
	run(len(found), func(k int) {
		g := l.ground(l.frames[k], .4*l.Scale)
		n := 0
		for i := range found[k] {
			b := &found[k][i]
			if b.r <= l.least || n == 25 {
				continue
			}
			n++
			top := b.p * float64(g.P[int(b.y)*g.W+int(b.x)])
			s := sight{h: top}
			if top > 0 {
				s.a, s.b = l.above(g, b, .75*top), l.above(g, b, .5*top)
			}
			seen[k] = append(seen[k], s)
		}
	})
	var a, b, h []float64
	for _, k := range seen {
		for _, s := range k {
			a, b, h = append(a, s.a), append(b, s.b), append(h, s.h)
		}
	}
	l.height = median(h)
	return median(a), median(b)
}

// above is the area around a blob that lies above t, within nine scales, in squares of the scale.
func (f *Finder) above(g Picture, b *blob, t float64) float64 {
	n := len(f.plateau(g, b, t, 9))
	return float64(n) / (f.Scale * f.Scale)
}

// plateau is the pixels around a blob above t, within so many scales.
func (f *Finder) plateau(g Picture, b *blob, t, scales float64) []int32 {
	r := int(scales*f.Scale) + 2
	x, y := int(b.x), int(b.y)
	x0, y0, x1, y1 := max(0, x-r), max(0, y-r), min(g.W-1, x+r), min(g.H-1, y+r)
	in := func(i int) bool { return b.p*float64(g.P[i]) > t }
	if !in(y*g.W + x) {
		return nil
	}
	seen := map[int32]bool{int32(y*g.W + x): true}
	list := []int32{int32(y*g.W + x)}
	for at := 0; at < len(list); at++ {
		i := int(list[at])
		u, v := i%g.W, i/g.W
		for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			a, c := u+d[0], v+d[1]
			if a < x0 || a > x1 || c < y0 || c > y1 {
				continue
			}
			if j := c*g.W + a; in(j) && !seen[int32(j)] {
				seen[int32(j)] = true
				list = append(list, int32(j))
			}
		}
	}
	return list
}

// single learns the look of one object. Where the looks disagree, it is a body that bends or turns.
func (l *learning) single(found [][]blob) {
	var frames []Picture
	var x, y []float64
	for k, b := range found {
		if len(b) > 0 { // the strongest is first
			frames, x, y = append(frames, l.frames[k]), append(x, b[0].x), append(y, b[0].y)
		}
	}
	r := int(min(max(math.Round(3.2*l.Scale), 4), float64(min(l.w, l.h))/2-2))
	l.template = newTemplate(r)
	l.template.learn(frames, x, y)
	l.Alike = l.noiseless(l.template.ncc, frames, x, y, r)
	if l.Alike < .8 || l.extended && !l.coarse {
		l.Kind = OneBody
	}
}

// noiseless is a correlation of looks as it would be without noise.
func (l *learning) noiseless(ncc float64, frames []Picture, x, y []float64, r int) float64 {
	var noise, power []float64
	for _, p := range l.pairs {
		d := p[1].minus(p[0])
		v := make([]float64, 0, len(d.P))
		for _, u := range d.P {
			v = append(v, math.Abs(float64(u)))
		}
		s := 1.4826 * median(v) / math.Sqrt2
		noise = append(noise, s*s)
	}
	for k := range frames {
		v := make([]float64, 0, (2*r+1)*(2*r+1))
		for _, u := range patch(frames[k], x[k], y[k], r, nil) {
			v = append(v, float64(u))
		}
		s := sd(v)
		power = append(power, s*s)
	}
	return ncc / math.Sqrt(min(max(1-median(noise)/max(median(power), 1e-9), .05), 1))
}

// usual learns the usual area of a body.
func (l *learning) usual() {
	areas := make([][]body, len(l.frames))
	run(len(areas), func(k int) { areas[k] = l.bodies(l.frames[k], 0, 2*l.Scale*l.Scale) })
	var a []float64
	for _, b := range areas {
		for i := range b {
			a = append(a, b[i].area)
		}
	}
	if len(a) == 0 {
		l.Kind = Nothing
		return
	}
	least := .3 * median(a)
	for range 3 {
		var v []float64
		for _, x := range a {
			if x > least {
				v = append(v, x)
			}
		}
		l.Area = median(v)
		least = .3 * l.Area
	}
}
