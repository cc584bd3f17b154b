package states

import "math"

// table holds the log likelihood of every segment over a grid of D, at one noise.
type table struct {
	logD   []float64
	likely []float32 // likelihoods divided by their maximum, one row per segment; single precision, because tables take most of the memory of a fit
	tops   []float64 // ln of the maxima of the rows
	from   []int     // row i is nonzero in [from[i], to[i])
	to     []int
	noise  float64
}

// The grid of a table around the mean D. Between two points the likelihood of a track of 200 steps changes by a fifth of its width.
const (
	tablePerDecade = 32
	tableBelow     = 4 // decades
	tableAbove     = 2
	tableStep      = math.Ln10 / tablePerDecade
	tablePoints    = (tableBelow+tableAbove)*tablePerDecade + 1
)

// grid returns the D of a table, as logarithms.
func (f *fitting) grid() []float64 {
	middle := math.Log(f.unit / f.time)
	out := make([]float64, tablePoints)
	for j := range out {
		out[j] = middle + (float64(j)-tableBelow*tablePerDecade)*tableStep
	}
	return out
}

// negligible is the distance below the maximum, in nats, beyond which a likelihood counts as 0.
const negligible = 60

// mostTabled is the largest number of values in the stored tables, 16 MB: ten tables of 65,536 steps in pieces of 30.
const mostTabled = 1 << 22

// tabulate returns the table for a noise. It stores the latest tables.
func (f *fitting) tabulate(noise float64) *table {
	if t := f.tables[noise]; t != nil {
		return t
	}
	t := &table{logD: f.grid(), noise: noise}
	n := len(t.logD)
	t.likely, t.tops = make([]float32, n*len(f.segments)), make([]float64, len(f.segments))
	t.from, t.to = make([]int, len(f.segments)), make([]int, len(f.segments))
	f.each(func(i int) { f.tell(t, i, t.likely[i*n:][:n]) })
	if (len(f.tables)+1)*len(t.likely) > mostTabled {
		clear(f.tables)
	}
	if f.tables != nil && len(t.likely) <= mostTabled {
		f.tables[noise] = t
	}
	return t
}

// tell computes the row of segment i.
func (f *fitting) tell(t *table, i int, row []float32) {
	var logs [tablePoints]float64
	top := math.Inf(-1)
	f.fill(logs[:], t.logD, &f.segments[i], t.noise)
	for _, v := range logs {
		top = max(top, v)
	}
	t.tops[i], t.from[i] = top, len(row)
	for j, v := range logs {
		if v > top-negligible {
			t.from[i], t.to[i], row[j] = min(t.from[i], j), j+1, float32(math.Exp(v-top))
		}
	}
}

// A likelihood is smooth in ln D: for n steps its fourth derivative is at most n. A cubic through four points a stride h apart has an error of 3nh⁴/128,
// 0.01 nats for 64 steps and a stride of four.
const (
	stride    = 4
	fewStrode = 64 // steps; for longer segments, every point is computed
)

// fill writes the log likelihoods of a segment over the grid.
func (f *fitting) fill(row, logD []float64, s *Segment, noise float64) {
	step := stride
	if len(s.Steps) > fewStrode {
		step = 1
	}
	for j := 0; j < len(row); j += step {
		row[j] = s.logLikelihood(law{math.Exp(logD[j]), noise, f.exposure, f.stray})
	}
	if step == 1 {
		return
	}
	last := (len(row) - 1) / step * step // the number of grid points is a multiple of the stride plus one
	for j := 0; j < last; j += step {
		from := min(max(j-step, 0), last-3*step)
		a, b, c, d := row[from], row[from+step], row[from+2*step], row[from+3*step]
		for k := 1; k < step; k++ {
			x := float64(j+k-from) / float64(step)
			row[j+k] = -a*(x-1)*(x-2)*(x-3)/6 + b*x*(x-2)*(x-3)/2 - c*x*(x-1)*(x-3)/2 + d*x*(x-1)*(x-2)/6
		}
	}
}

// The noise levels of tables: twenty per decade, so any noise is within 6 % of a level.
const (
	ladderPerDecade = 20
	ladderDecades   = 5 // decades below the mean square step
)

// rung returns the noise of rung i, or 0 if i is 0 or less.
func (f *fitting) rung(i int) float64 {
	if i <= 0 {
		return 0
	}
	return f.noise * math.Pow(10, float64(i)/ladderPerDecade-ladderDecades)
}

// rungOf returns the rung nearest to a noise.
func (f *fitting) rungOf(noise float64) int {
	if !(noise > 0) {
		return 0
	}
	i := math.Round(ladderPerDecade * (math.Log10(noise/f.noise) + ladderDecades))
	return int(min(max(i, 0), ladderPerDecade*ladderDecades))
}
