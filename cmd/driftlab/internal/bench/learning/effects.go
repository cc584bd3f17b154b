package learning

import (
	"math"
	"math/rand/v2"
)

// flicker is an unsteady lamp: the gain is 1 + N(0, amount) per frame. Stray light, a tenth of the picture's median, varies
// four times as much. If the median is 0, stray light is a twentieth of the file's range.
func flicker(o defect, rng *rand.Rand) effect {
	return func(p *levels, _ int) error {
		off := o.Amount * rng.NormFloat64()
		stray := 0.1 * p.median()
		if stray == 0 {
			stray = 0.05 * p.top
		}
		p.scale(1+off, stray*(1+4*off))
		return nil
	}
}

// step is a lamp that becomes brighter by the fraction amount in the middle of the film.
func step(o defect, _ *rand.Rand) effect {
	return func(p *levels, frame int) error {
		if frame > o.Frames/2 {
			p.scale(1+o.Amount, 0)
		}
		return nil
	}
}

// bleach fades the departure from the median by exp(-amount t/T).
func bleach(o defect, _ *rand.Rand) effect {
	return func(p *levels, frame int) error {
		left, median := math.Exp(-o.Amount*float64(frame)/float64(o.Frames)), p.median()
		for i, v := range p.values {
			p.values[i] = median + left*(v-median) // exactly v at the median: levels are truncated
		}
		return nil
	}
}

// uneven is a bright side, amount of the picture's own range, that turns once around the picture.
func uneven(o defect, _ *rand.Rand) effect {
	return func(p *levels, frame int) error {
		sin, cos := math.Sincos(2 * math.Pi * float64(frame) / float64(o.Frames))
		height := o.Amount * p.span()
		p.add(func(x, y int) float64 {
			across, down := float64(x)/float64(p.width)-0.5, float64(y)/float64(p.height)-0.5
			return height * (0.5 + 0.5*(across*cos+down*sin))
		})
		return nil
	}
}

// stage moves the picture amount px down over the film, and oscillates by the same amount. It repeats edges and interpolates
// linearly. A truth in pixels is off by that motion.
func stage(o defect, _ *rand.Rand) effect {
	return func(p *levels, frame int) error {
		done := float64(frame) / float64(o.Frames)
		p.shift(o.Amount*math.Sin(2*math.Pi*done), o.Amount*done)
		return nil
	}
}

// shift moves the picture right and down, px.
func (p *levels) shift(right, down float64) {
	p.before = append(p.before[:0], p.values...)
	for y := range p.height {
		above, below, low := between(float64(y)-down, p.height)
		for x := range p.width {
			left, next, far := between(float64(x)-right, p.width)
			for c := range p.channels {
				at := func(x, y int) float64 { return p.before[(y*p.width+x)*p.channels+c] }
				upper := at(left, above) + far*(at(next, above)-at(left, above))
				lower := at(left, below) + far*(at(next, below)-at(left, below))
				p.values[(y*p.width+x)*p.channels+c] = upper + low*(lower-upper)
			}
		}
	}
}

// between returns the pixels around a position, and its fraction of the way from the first to the second.
func between(place float64, n int) (first, second int, far float64) {
	place = min(max(place, 0), float64(n-1))
	whole, far := math.Modf(place)
	return int(whole), min(int(whole)+1, n-1), far
}

const (
	specks     = 12
	speckDepth = 0.3 // fraction of the picture's range, at amount 1
	speckMoves = 10  // px by which the first moves in the middle of the film
)

// speck is a Gaussian shadow.
type speck struct{ x, y, sd float64 } // position from 0 to 1 of the picture, and sd in px

// dust is fixed shadows on a window near the camera, each amount times speckDepth deep; one moves once.
func dust(o defect, rng *rand.Rand) effect {
	var all [specks]speck
	for i := range all {
		all[i] = speck{rng.Float64(), rng.Float64(), 1 + 3*rng.Float64()}
	}
	var shade []float64 // per pixel, at a depth of 1
	return func(p *levels, frame int) error {
		switch frame {
		case 0:
			shade = make([]float64, p.width*p.height)
		case o.Frames/2 + 1:
			clear(shade)
			all[0].x += speckMoves / float64(p.width)
		}
		if frame == 0 || frame == o.Frames/2+1 {
			for _, s := range all {
				s.darken(shade, p.width, p.height)
			}
		}
		depth := o.Amount * speckDepth * p.span()
		p.add(func(x, y int) float64 { return -depth * shade[y*p.width+x] })
		return nil
	}
}

// darken adds the speck to a picture's shade.
func (s *speck) darken(shade []float64, width, height int) {
	for y := range height {
		for x := range width {
			dx, dy := float64(x)-float64(width)*s.x, float64(y)-float64(height)*s.y
			shade[y*width+x] += math.Exp(-(dx*dx + dy*dy) / (2 * s.sd * s.sd))
		}
	}
}

// hotShare is the fraction of hot pixels at amount 1.
const hotShare = 1e-3

// hot sets amount times hotShare of the pixels to the highest level.
func hot(o defect, rng *rand.Rand) effect {
	var places []int
	return func(p *levels, frame int) error {
		if frame == 0 {
			for i := range p.width * p.height {
				if rng.Float64() < o.Amount*hotShare {
					places = append(places, i)
				}
			}
		}
		for _, i := range places {
			for c := range p.channels {
				p.values[i*p.channels+c] = p.top
			}
		}
		return nil
	}
}

// lines is an interlaced camera: rows 0, 2, 4.. are brighter by the fraction amount in frames 1, 3, 5...
func lines(o defect, _ *rand.Rand) effect {
	return func(p *levels, frame int) error {
		if frame%2 == 0 {
			return nil
		}
		row := p.width * p.channels
		for i := range p.values {
			if i/row%2 == 0 {
				p.values[i] *= 1 + o.Amount
			}
		}
		return nil
	}
}

// saturate clips above 1/amount of the camera's range.
func saturate(o defect, _ *rand.Rand) effect {
	return func(p *levels, _ int) error {
		for i, v := range p.values {
			p.values[i] = min(v, p.top/o.Amount)
		}
		return nil
	}
}
