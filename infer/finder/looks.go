package finder

import (
	"math"
	"slices"
)

// common learns the look that many objects share. If they share no look, it sets their usual area.
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

// single learns the look of one object. If its looks in different frames disagree, the object is a body that bends or turns.
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
	if l.Alike < alike || l.extended && !l.coarse {
		l.Kind = OneBody
	}
}

// noiseless corrects a correlation between looks for the noise.
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
