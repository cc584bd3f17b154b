package finder

import (
	"cmp"
	"math"
	"slices"

	"driftscope/internal/kit/numbers"
)

// sieve is a criterion for extrema.
type sieve struct {
	noise  *noise
	first  int       // index of the first level in the noise's scales
	z      float64   // smallest strength over the noise
	signs  []float64 // 1 bright, -1 dark
	strict bool      // also require that no neighbour in scale is stronger
}

// extrema returns the local extrema of the levels that pass the sieve. grey is the smoothed frame.
func extrema(levels []level, grey Picture, keep sieve) (all []blob) {
	for i := range levels {
		l := &levels[i]
		for _, p := range keep.signs {
			l.peaks(float32(p), func(x, y int, v float32) {
				b := blob{r: float64(v), p: p, s: l.s, at: i}
				b.x, b.y = l.film(float64(x), float64(y))
				b.z = b.r / keep.noise.at(keep.first+i, grey.at(b.x, b.y))
				if b.z <= keep.z {
					return
				}
				for _, j := range []int{i - 1, i + 1} {
					if keep.strict && j >= 0 && j < len(levels) && b.r < p*levels[j].value(b.x, b.y)*.999 {
						return
					}
				}
				all = append(all, b)
			})
		}
	}
	return all
}

// strongest sorts blobs, the strongest first, and equally strong ones by position.
func strongest(b []blob) {
	slices.SortFunc(b, func(a, b blob) int {
		return cmp.Or(cmp.Compare(b.r, a.r), cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x), cmp.Compare(a.s, b.s), cmp.Compare(b.p, a.p))
	})
}

// alone keeps the strongest blobs, and drops each blob within reach times the scale of a stronger one.
func alone(all []blob, w, h int, reach float64) (kept []blob) {
	strongest(all)
	taken := make([]bool, w*h)
	for _, b := range all {
		x, y := min(max(int(b.x), 0), w-1), min(max(int(b.y), 0), h-1)
		if taken[y*w+x] {
			continue
		}
		kept = append(kept, b)
		r := int(math.Round(max(1.5, reach*b.s)))
		for j := max(y-r, 0); j <= min(y+r, h-1); j++ {
			half := int(math.Sqrt(float64(r*r - (j-y)*(j-y))))
			for i := max(x-half, 0); i <= min(x+half, w-1); i++ {
				taken[j*w+i] = true
			}
		}
	}
	return kept
}

// saddles compares each blob with the stronger ones near it. to is the stronger blob that no dip separates from it (-1: none). satellite is true for a side
// lobe of a stronger blob, as around rings. g is the smoothed frame without its background.
func saddles(g Picture, b []blob, s float64) (to []int, satellite []bool) {
	to, satellite = make([]int, len(b)), make([]bool, len(b))
	for i := range to {
		to[i] = -1
	}
	near := numbers.NewGrid(float64(g.W), float64(g.H), max(5*s, 2))
	for i := range b {
		near.Add(int32(i), b[i].x, b[i].y)
	}
	for j := range b {
		near.Near(b[j].x, b[j].y, 5*s, func(at int32) {
			i := int(at)
			if i == j || b[i].r > b[j].r || b[i].r == b[j].r && i < j {
				return
			}
			d := math.Hypot(b[i].x-b[j].x, b[i].y-b[j].y)
			if d > 5*s {
				return
			}
			if b[i].p != b[j].p {
				satellite[i] = satellite[i] || b[j].r > 1.25*b[i].r && d < 4.5*s
				return
			}
			switch joined := dip(g, &b[i], &b[j]); {
			case joined:
				if to[i] < 0 || b[j].r > b[to[i]].r {
					to[i] = j
				}
			case b[j].r > 4*b[i].r && d < 4.5*s:
				satellite[i] = true
			}
		})
	}
	return to, satellite
}

// dip reports whether two blobs belong to one object: whether the path from the weak to the strong one stays above .88 of its lower end.
func dip(g Picture, weak, strong *blob) (joined bool) {
	const steps = 11
	first, last, least := 0., 0., math.Inf(1)
	for k := 0; k <= steps; k++ {
		t := float64(k) / steps
		v := weak.p * g.at(weak.x+t*(strong.x-weak.x), weak.y+t*(strong.y-weak.y))
		if k == 0 {
			first = v
		}
		last, least = v, min(least, v)
	}
	return first <= 0 || least > joint*min(first, last)
}

// valley finds a clear valley in the density of log strength above a floor. It returns the threshold at the valley and the valley's depth. If there is no
// valley, it returns the floor and 0.
func valley(r []float64, frames int, floor float64) (at, depth float64) {
	var u []float64
	for _, v := range r {
		if v > floor {
			u = append(u, math.Log(v))
		}
	}
	if len(u) < 4 {
		return floor, 0
	}
	slices.Sort(u)
	const cells = 300
	lo, hi := math.Log(floor)-.3, u[len(u)-1]+.3
	width := max(.1, .6*min(sd(u), .5)*math.Pow(float64(len(u)), -.2))
	var d, left, right [cells]float64
	g := func(i int) float64 { return lo + (hi-lo)*float64(i)/(cells-1) }
	for i := range d {
		from, _ := slices.BinarySearch(u, g(i)-6*width)
		for _, v := range u[from:] {
			t := (g(i) - v) / width
			if t < -6 {
				break
			}
			d[i] += math.Exp(-.5 * t * t)
		}
	}
	for i := range d {
		left[i], right[cells-1-i] = d[i], d[cells-1-i]
		if i > 0 {
			left[i], right[cells-1-i] = max(left[i], left[i-1]), max(right[cells-1-i], right[cells-i])
		}
	}
	at = floor
	for i := 1; i < cells-1; i++ {
		if d[i] > d[i-1] || d[i] > d[i+1] {
			continue
		}
		from, _ := slices.BinarySearch(u, g(i))
		deep := 1 - d[i]/min(left[i], right[i])
		if float64(len(u)-from)/float64(frames) >= .7 && deep > clearing && deep > depth {
			at, depth = math.Exp(g(i)), deep
		}
	}
	return at, depth
}
