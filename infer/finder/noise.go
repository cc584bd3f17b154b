package finder

import (
	"math"
)

// greys is the number of grey-value classes with their own noise.
const greys = 8

// noise holds the standard deviation of each scale without objects, by grey value, and a factor for texture.
type noise struct {
	grey  [greys]float64
	sd    [][greys]float64
	kappa []float64 // factor for texture, 1 without texture
	even  []bool    // the extrema of one polarity are equally strong, as in a lattice of objects but not in a random texture
	shift bool      // the field moves as a whole

	tiles [][]float64 // factor of each tile with more noise than the picture as a whole, in rows; a codec distributes its bits unevenly
	w, h  int         // size of the picture
}

// mostUneven bounds the factor of a tile. If a codec freezes the background, any small motion there looks like much noise.
const mostUneven = 2

// tiling is the largest number of tiles along a side. leastTile is their smallest width in px, so a tile has at least a few hundred values.
const (
	tiling    = 6
	leastTile = 32
)

// newNoise estimates the noise from pairs of successive frames, and the texture from single frames.
func newNoise(frames []Picture, pairs [][2]Picture, scales []float64, with filter) *noise {
	n := &noise{sd: make([][greys]float64, len(scales)), kappa: make([]float64, len(scales)), even: make([]bool, len(scales))}
	type sight struct {
		grey Picture
		diff Picture
	}
	seen := make([]sight, len(pairs))
	run(len(pairs), func(i int) {
		a, b := pairs[i][0], pairs[i][1]
		sum := NewPicture(a.W, a.H)
		for j, v := range a.P {
			sum.P[j] = (v + b.P[j]) / 2
		}
		seen[i] = sight{blur(sum, 2), b.minus(a)}
	})
	var all []float64
	for _, s := range seen {
		for y := 0; y < s.grey.H; y += 3 {
			for x := 0; x < s.grey.W; x += 3 {
				all = append(all, float64(s.grey.P[y*s.grey.W+x]))
			}
		}
	}
	var edge [greys + 1]float64
	for i := range edge {
		edge[i] = quantile(all, float64(i)/greys)
	}
	for i := range n.grey {
		n.grey[i] = (edge[i] + edge[i+1]) / 2
	}
	run(len(scales), func(i int) {
		n.sd[i] = n.measure(scales[i], with, edge, len(seen), func(k int) (Picture, Picture) { return seen[k].diff, seen[k].grey })
	})
	for i, s := range scales {
		for b := range n.sd[i] {
			n.sd[i][b] = max(n.sd[i][b], .3*.35/s) // rounding to whole grey values adds noise
			if i > 0 && with == laplace {
				n.sd[i][b] = min(n.sd[i][b], 3*n.sd[0][b]*scales[0]/s) // moving objects are not noise, so the sd is at most three times the sd of white noise
			}
		}
	}
	n.textures(frames, scales, with)
	i := min(2, len(scales)-1)
	n.tile(len(seen), i, func(p Picture) level { return look(p, scales[i], with) }, func(k int) (Picture, Picture) { return seen[k].diff, seen[k].grey })
	return n
}

// tile compares the noise of each tile with the whole picture's noise. It compares lower quartiles, because these exclude moving objects.
func (n *noise) tile(pairs, i int, look func(Picture) level, pair func(k int) (diff, grey Picture)) {
	first, _ := pair(0)
	n.w, n.h = first.W, first.H
	across, down := min(max(n.w/leastTile, 1), tiling), min(max(n.h/leastTile, 1), tiling)
	values, all := make([][]float64, across*down), []float64{}
	for k := range pairs {
		diff, grey := pair(k)
		l := look(diff)
		for y := 0; y < l.H; y += 2 {
			for x := 0; x < l.W; x += 2 {
				u, v := l.film(float64(x), float64(y))
				d := math.Abs(float64(l.P[y*l.W+x])) / n.at(i, grey.at(u, v))
				t := min(int(v)*down/n.h, down-1)*across + min(int(u)*across/n.w, across-1)
				values[t], all = append(values[t], d), append(all, d)
			}
		}
	}
	usual := quantile(all, .25)
	for row := range down {
		n.tiles = append(n.tiles, make([]float64, across))
		for column := range across {
			n.tiles[row][column] = 1
			if of := values[row*across+column]; usual > 0 && len(of) > 0 {
				n.tiles[row][column] = min(max(1, quantile(of, .25)/usual), mostUneven)
			}
		}
	}
}

// unevenness returns the noise factor at a position in the picture, by linear interpolation between the centres of tiles.
func (n *noise) unevenness(x, y float64) float64 {
	down, across := len(n.tiles), len(n.tiles[0])
	v := min(max((y+.5)*float64(down)/float64(n.h)-.5, 0), float64(down-1))
	u := min(max((x+.5)*float64(across)/float64(n.w)-.5, 0), float64(across-1))
	top, left := int(v), int(u)
	bottom, right := min(top+1, down-1), min(left+1, across-1)
	v, u = v-float64(top), u-float64(left)
	return (1-v)*((1-u)*n.tiles[top][left]+u*n.tiles[top][right]) + v*((1-u)*n.tiles[bottom][left]+u*n.tiles[bottom][right])
}

// measure returns the robust sd of the filtered differences between frames, divided by √2, by grey value.
func (n *noise) measure(s float64, with filter, edge [greys + 1]float64, pairs int, pair func(k int) (diff, grey Picture)) (out [greys]float64) {
	var values [greys][]float64
	for k := range pairs {
		diff, grey := pair(k)
		l := look(diff, s, with)
		stride := max(1, int(math.Round(3/l.fx)))
		for y := 0; y < l.H; y += stride {
			for x := 0; x < l.W; x += stride {
				u, v := l.film(float64(x), float64(y))
				g := float64(grey.P[min(max(int(v+.5), 0), grey.H-1)*grey.W+min(max(int(u+.5), 0), grey.W-1)])
				d := math.Abs(float64(l.P[y*l.W+x])) / math.Sqrt2
				for b := range values {
					if g >= edge[b] && g <= edge[b+1] {
						values[b] = append(values[b], d)
					}
				}
			}
		}
	}
	var known []float64
	for b := range out {
		out[b] = math.NaN()
		if len(values[b]) > 30 {
			out[b] = 1.4826 * median(values[b])
			known = append(known, out[b])
		}
	}
	usual := 1.
	if len(known) > 0 {
		usual = median(known)
	}
	for b := range out {
		if math.IsNaN(out[b]) {
			out[b] = usual
		}
	}
	return out
}

// textures finds the scales at which extrema fill the field. Most of these extrema are texture, so textures raises the noise to include them.
func (n *noise) textures(frames []Picture, scales []float64, with filter) {
	w, h := frames[0].W, frames[0].H
	for i := range n.kappa {
		n.kappa[i] = 1
	}
	which := spread(len(frames), 3)
	greyOf := make([]Picture, len(which))
	run(len(which), func(j int) { greyOf[j] = blur(frames[which[j]], 2) })
	wide := 0
	for i, s := range scales {
		if s <= float64(min(w, h))/12 {
			wide = i + 1
		}
	}
	run(wide, func(i int) {
		s := scales[i]
		var z [2][]float64
		for j, k := range which {
			l := look(frames[k], s, with)
			for q, p := range []float32{1, -1} {
				l.peaks(p, func(x, y int, v float32) {
					if v > 1e-3 {
						u, w := l.film(float64(x), float64(y))
						z[q] = append(z[q], float64(v)/n.at(i, greyOf[j].at(u, w)))
					}
				})
			}
		}
		for q := range z {
			n.even[i] = n.even[i] || len(z[q]) > 60 && quantile(z[q], .25) > .78*quantile(z[q], .75)
		}
		filled := float64(len(z[0])+len(z[1])) > .25*6*float64(w*h)/(10.9*s*s) // in white noise, an extremum takes 10.9 s² on average
		if !n.even[i] && filled {
			all := append(append(z[0], z[1]...), 0, 0, 0)
			n.kappa[i] = min(max(median(all)/1.6, 1), 1e4) // pure noise has 1.6
		}
	})
	for i := range scales {
		if i >= wide && i > 0 {
			n.kappa[i] = n.kappa[i-1]
		}
	}
}

// at returns the sd of scale i at a grey value.
func (n *noise) at(i int, grey float64) float64 {
	s := &n.sd[i]
	b := 0
	for b < greys-1 && grey > n.grey[b+1] {
		b++
	}
	v := s[b]
	if b < greys-1 && grey > n.grey[b] && n.grey[b+1] > n.grey[b] {
		t := (grey - n.grey[b]) / (n.grey[b+1] - n.grey[b])
		v = s[b] + t*(s[b+1]-s[b])
	}
	return v * n.kappa[i]
}
