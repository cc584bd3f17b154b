package regression

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// Size and extent of the displayed grid.
const (
	gridLine   = 25  // points if one dimension moves
	gridSide   = 11  // points per side if more dimensions move
	gridSpan   = 2.5 // extent on either side of the latents' mean, in their spreads
	gridDraws  = 64  // random drifts for the standard errors, which then have an error of 9 %
	gridScarce = 10  // a point with fewer latents within half a spread counts as scarce
)

// layOut evaluates the drift on a plane of the first two dimensions that move, or on a line if only one moves. It returns nil if none moves. p is the
// posterior of the correction. carried is the drift including the correction.
func layOut(p *Posterior, t *diffusion.Track, carried *drift.Field, rng *rand.Rand) *latent.Field {
	active := p.Active()
	if len(active) == 0 {
		return nil
	}
	f := &latent.Field{Axes: active[:min(2, len(active))]}
	centre, spread := visited(t)
	drawn, d := p.Draws(gridDraws, rng), t.Dim()
	z, mu, each := make([]float64, d), make([]float64, d), mat.NewDense(gridDraws, d, nil)
	for _, step := range lattice(len(f.Axes)) {
		copy(z, centre)
		for i, at := range f.Axes {
			z[at] += step[i] * spread[at]
		}
		carried.Drift(mu, z)
		for k, one := range drawn {
			one.Drift(each.RawRowView(k), z)
		}
		sd := make([]float64, d)
		for _, at := range f.Axes {
			sd[at] = stat.StdDev(mat.Col(nil, at, each), nil)
		}
		seen := t.Near(z, f.Axes, spread)
		f.Z, f.Drift, f.SD = append(f.Z, pick(z, f.Axes)), append(f.Drift, pick(mu, f.Axes)), append(f.SD, pick(sd, f.Axes))
		f.Scarce = append(f.Scarce, seen < gridScarce)
	}
	return f
}

// lattice returns the grid's points, in spreads from the mean. The first axis varies slowest.
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

// visited returns the mean and standard deviation of a track per dimension.
func visited(t *diffusion.Track) (mean, sd []float64) {
	for i := range t.Dim() {
		column := make([]float64, t.Len())
		for k := range column {
			column[k] = t.Row(k)[i]
		}
		m, s := stat.MeanStdDev(column, nil)
		mean, sd = append(mean, m), append(sd, s)
	}
	return mean, sd
}

func pick(x []float64, axes []int) (out []float64) {
	for _, at := range axes {
		out = append(out, x[at])
	}
	return out
}

// ArchiveField reads or writes a field. It returns the field that it read, or f.
func ArchiveField(a *archive.Codec, f *latent.Field, dim int) *latent.Field {
	var axes, points uint64
	if f != nil {
		axes, points = uint64(len(f.Axes)), uint64(len(f.Z))
	}
	a.Uint(&axes)
	a.Uint(&points)
	a.Require(axes <= 2 && points <= gridSide*gridSide, "a field of %d points along %d axes", points, axes)
	if axes == 0 || a.Err() != nil {
		return nil
	}
	if !a.Writing() {
		f = &latent.Field{Axes: make([]int, axes), Scarce: make([]bool, points)}
		for range points {
			f.Z, f.Drift, f.SD = append(f.Z, make([]float64, axes)), append(f.Drift, make([]float64, axes)), append(f.SD, make([]float64, axes))
		}
	}
	for i := range f.Axes {
		axis := uint64(f.Axes[i])
		a.Uint(&axis)
		if a.Require(axis < uint64(dim), "an axis %d of %d", axis, dim); a.Reading() {
			f.Axes[i] = int(axis)
		}
	}
	for k := range f.Z {
		a.Floats(f.Z[k])
		a.Floats(f.Drift[k])
		a.Floats(f.SD[k])
		a.Bool(&f.Scarce[k])
	}
	return f
}
