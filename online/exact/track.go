package exact

import (
	"fmt"
	"math"
	"slices"
)

// Place is the position of an object in a frame.
type Place struct {
	Frame int
	X, Y  float64
}

// Track holds the positions of one object, by ascending frames.
type Track []Place

// axes is the number of axes of a picture.
const axes = 2

// series is a track along the moving axes, relative to its mean.
type series struct {
	gap []int        // frames since the previous position; 0 for the first
	at  [][2]float64 // positions; 0 along an unused axis
}

const (
	fewestSteps = 20      // least number of steps for a law
	largest     = 1e150   // largest coordinate, so no sum of squares overflows
	longestGap  = 1 << 20 // largest gap, frames
)

// inspect returns the usable axes, and the problems of the tracks. Without a usable axis, the last remark gives the reason.
func inspect(tracks []Track) (usable [axes]bool, remarks []string) {
	steps := 0
	var low, high, first, grid, sum [axes]float64
	var values [axes][]float64
	for i := range low {
		low[i], high[i] = math.Inf(1), math.Inf(-1)
	}
	for _, t := range tracks {
		for k, p := range t {
			for i, v := range [axes]float64{p.X, p.Y} {
				if math.IsNaN(v) || math.Abs(v) > largest {
					return usable, []string{fmt.Sprintf("A coordinate of %g is not a usable number.", v)}
				}
				low[i], high[i] = min(low[i], v), max(high[i], v)
				if len(values[i]) < mostInspected {
					values[i] = append(values[i], v)
				}
			}
			if k > 0 {
				steps++
				sum[0] += (p.X - t[k-1].X) * (p.X - t[k-1].X)
				sum[1] += (p.Y - t[k-1].Y) * (p.Y - t[k-1].Y)
			}
		}
	}
	if steps < fewestSteps {
		return usable, []string{fmt.Sprintf("%d steps are too few for a law: it needs at least %d.", steps, fewestSteps)}
	}
	for i, name := range [axes]string{"x", "y"} {
		sd := math.Sqrt(sum[i] / float64(steps))
		first[i] = values[i][0]
		if sd <= 1e-12*max(math.Abs(high[i]), math.Abs(low[i]), math.SmallestNonzeroFloat64) {
			remarks = append(remarks, fmt.Sprintf("Nothing moves along %s: the law describes the other axis alone.", name))
			continue
		}
		usable[i] = true
		grid[i] = spacing(values[i])
		if grid[i] > sd/2 {
			remarks = append(remarks, fmt.Sprintf("Coordinates along %s are whole multiples of %.3g, and a step is %.3g: rounding counts as noise of %.2g, and a D below %.2g per frame cannot be measured.",
				name, grid[i], sd, grid[i]/math.Sqrt(12), grid[i]*grid[i]/24))
		}
	}
	if !usable[0] && !usable[1] {
		remarks = []string{"Nothing moves along x or y: there is no law to find."}
	}
	return usable, remarks
}

// mostInspected is the largest number of coordinates that spacing examines.
const mostInspected = 100_000

// spacing returns the width of the grid of all values, or 0 if there is no grid.
func spacing(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	width := math.Inf(1)
	for k := 1; k < len(sorted); k++ {
		if d := sorted[k] - sorted[k-1]; d > 0 {
			width = min(width, d)
		}
	}
	if math.IsInf(width, 1) {
		return 0
	}
	for _, v := range sorted {
		if n := (v - sorted[0]) / width; math.Abs(n-math.Round(n)) > 1e-6*max(1, math.Abs(n)*1e-3) {
			return 0
		}
	}
	return width
}

// dimensions counts the usable axes.
func dimensions(usable [axes]bool) float64 {
	d := 0.0
	for _, u := range usable {
		if u {
			d++
		}
	}
	return d
}

// newSeries returns a track relative to its mean, with unused axes at 0.
func newSeries(t Track, usable [axes]bool) series {
	s := series{gap: make([]int, len(t)), at: make([][2]float64, len(t))}
	var mean [axes]float64
	for k, p := range t {
		mean[0], mean[1] = mean[0]+(p.X-t[0].X)/float64(len(t)), mean[1]+(p.Y-t[0].Y)/float64(len(t))
		if k > 0 {
			s.gap[k] = min(p.Frame-t[k-1].Frame, longestGap)
		}
	}
	for k, p := range t {
		if usable[0] {
			s.at[k][0] = p.X - t[0].X - mean[0]
		}
		if usable[1] {
			s.at[k][1] = p.Y - t[0].Y - mean[1]
		}
	}
	return s
}

// pieces cuts series into pieces of at most most positions. Successive pieces share a position, so no step is lost.
func pieces(all []series, most int) (out []series) {
	for _, s := range all {
		for from := 0; from < len(s.at)-1; from += most - 1 {
			to := min(from+most, len(s.at))
			p := series{gap: slices.Clone(s.gap[from:to]), at: s.at[from:to]}
			p.gap[0] = 0
			out = append(out, p)
		}
	}
	return out
}

// evenly picks series at even spacing, with about most positions in total.
func evenly(all []series, most int) []series {
	places := 0
	for _, s := range all {
		places += len(s.at)
	}
	if places <= most {
		return all
	}
	var out []series
	share, due := float64(most)/float64(places), 0.0
	for _, s := range all {
		if due += share; due >= 1 {
			due--
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		out = all[:1]
	}
	return out
}

// square returns the mean square of a step along an axis, per frame.
func square(all []series, d float64) float64 {
	sum, n := 0.0, 0.0
	for _, s := range all {
		for k := 1; k < len(s.at); k++ {
			x, y := s.at[k][0]-s.at[k-1][0], s.at[k][1]-s.at[k-1][1]
			sum, n = sum+(x*x+y*y)/float64(s.gap[k]), n+d
		}
	}
	return sum / max(n, 1)
}
