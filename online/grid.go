package online

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/internal/latent"
)

// How the drift is laid out for the eye.
const (
	gridLine   = 25  // points where one dimension moves,
	gridSide   = 11  // a side where more do
	gridSpan   = 2.5 // spreads of the latents on either side of their mean
	gridDraws  = 64  // drifts that the standard errors are taken from, which knows these to 9 %
	gridScarce = 10  // latents within half a spread of a point, below which it is called scarce
)

// grid lays the drift out over the plane of the first two dimensions that move, or along the only one, nil where none does. p is what
// the track says of what is beyond known, nil for none, and added what carries it.
func (p *posterior) grid(t *track, known *Network, added *addition, rng *rand.Rand) *latent.Field {
	if len(p.active) == 0 {
		return nil
	}
	f := &latent.Field{Axes: p.active[:min(2, len(p.active))]}
	centre, spread := p.visited(t)
	drawn, carried := p.draws(gridDraws, rng), newField(known, added)
	z, mu, each := make([]float64, p.dim), make([]float64, p.dim), mat.NewDense(gridDraws, p.dim, nil)
	for _, step := range lattice(len(f.Axes)) {
		copy(z, centre)
		for i, at := range f.Axes {
			z[at] += step[i] * spread[at]
		}
		carried.drift(mu, z)
		for k, one := range drawn {
			one.drift(each.RawRowView(k), z)
		}
		sd := make([]float64, p.dim)
		for _, at := range f.Axes {
			sd[at] = stat.StdDev(mat.Col(nil, at, each), nil)
		}
		seen := t.near(z, f.Axes, spread)
		f.Z, f.Drift, f.SD = append(f.Z, pick(z, f.Axes)), append(f.Drift, pick(mu, f.Axes)), append(f.SD, pick(sd, f.Axes))
		f.Scarce = append(f.Scarce, seen < gridScarce)
	}
	return f
}

// lattice are the grid's points, in spreads from the mean, the first axis slowest.
func lattice(axes int) (points [][]float64) {
	if axes == 1 {
		for i := range gridLine {
			points = append(points, []float64{gridSpan * (2*float64(i)/(gridLine-1) - 1)})
		}
		return points
	}
	for i := range gridSide {
		for j := range gridSide {
			points = append(points, []float64{gridSpan * (2*float64(i)/(gridSide-1) - 1), gridSpan * (2*float64(j)/(gridSide-1) - 1)})
		}
	}
	return points
}

// visited is the mean of a track and its standard deviation in each dimension.
func (p *posterior) visited(t *track) (mean, sd []float64) {
	for i := range t.dim {
		column := make([]float64, t.len())
		for k := range column {
			column[k] = t.row(k)[i]
		}
		m, s := stat.MeanStdDev(column, nil)
		mean, sd = append(mean, m), append(sd, s)
	}
	return mean, sd
}

// near counts the latents within half a spread of z in each of the axes.
func (t *track) near(z []float64, axes []int, spread []float64) (n int) {
	for k := range t.len() {
		inside := true
		for _, at := range axes {
			inside = inside && math.Abs(t.row(k)[at]-z[at]) < spread[at]/2
		}
		if inside {
			n++
		}
	}
	return n
}

func pick(x []float64, axes []int) (out []float64) {
	for _, at := range axes {
		out = append(out, x[at])
	}
	return out
}

// archiveField gives the field that was read, or f where one is written.
func (a *archive) archiveField(f *latent.Field, dim int) *latent.Field {
	var axes, points uint64
	if f != nil {
		axes, points = uint64(len(f.Axes)), uint64(len(f.Z))
	}
	a.uint(&axes)
	a.uint(&points)
	a.require(axes <= 2 && points <= gridSide*gridSide, "a field of %d points along %d axes", points, axes)
	if axes == 0 || a.err != nil {
		return nil
	}
	if !a.writing {
		f = &latent.Field{Axes: make([]int, axes), Scarce: make([]bool, points)}
		for range points {
			f.Z, f.Drift, f.SD = append(f.Z, make([]float64, axes)), append(f.Drift, make([]float64, axes)), append(f.SD, make([]float64, axes))
		}
	}
	for i := range f.Axes {
		axis := uint64(f.Axes[i])
		a.uint(&axis)
		if a.require(axis < uint64(dim), "an axis %d of %d", axis, dim); a.reads() {
			f.Axes[i] = int(axis)
		}
	}
	for k := range f.Z {
		a.floats(f.Z[k])
		a.floats(f.Drift[k])
		a.floats(f.SD[k])
		a.bool(&f.Scarce[k])
	}
	return f
}
