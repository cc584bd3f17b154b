package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	regions   = 3    // regions along each latent: both ends and the middle, which differ if the latent is bent
	bentAlarm = 0.01 // probability below which chance is excluded: one false alarm in a hundred trainings, over all latents
)

const bentFactor float64 = 2 // tuned verdict.bent: ratio of the diffusion in two regions that matters: a length is then wrong by √2

// straight tests whether the diffusion of the latents is the same everywhere, as for straight latents of an object in a uniform medium. It compares the
// covariances of their steps in three regions along each latent, by the likelihood ratio with Box's correction (Box 1949). A step is assigned to the region of
// its midpoint, because a reversible motion has no mean step there. judged is false without latents, or with too few steps.
func (c *Case) straight(all []Latent) (f Finding, judged bool) {
	var axes []int
	correlated := 0.0
	for i := c.Places; i < c.Dim-c.Padding; i++ {
		if !all[i].Still && !all[i].noisy() {
			axes = append(axes, i)
			correlated = max(correlated, square(all[i].R/(1+2*all[i].R))) // squared correlation of consecutive steps
		}
	}
	steps, middles := c.steps(axes)
	if len(axes) == 0 || len(steps) < regions*2*len(axes) {
		return f, false
	}
	p, factor, bent := 1.0, 1.0, axes[0]
	for k, axis := range axes {
		ratio, df, between := unequal(sorted(steps, middles, k), len(axes))
		chance := math.Min(1, float64(len(axes))*chiSquared(df, ratio/(1+2*correlated)))
		if chance < p || chance == p && between > factor {
			p, factor, bent = chance, between, axis
		}
	}
	if p < bentAlarm && factor > bentFactor {
		return Finding{Doubt, fmt.Sprintf("the latents are bent, or the medium is uneven: along z%d their diffusion differs by a factor of %.2g (p = %.1g)", bent+1, factor, p),
			"give a longer film, or leave another number of latents to --latent auto"}, true
	}
	return Finding{Level: Good, Reason: fmt.Sprintf("the latents are straight: their diffusion differs by a factor of at most %.2g (p = %.2g)", factor, p)}, true
}

// chiSquared returns the probability that chance alone gives at least this value.
func chiSquared(df, ratio float64) float64 {
	return distuv.ChiSquared{K: df}.Survival(max(0, ratio))
}

// steps returns the steps along the axes, divided by √Δt, and their midpoints.
func (c *Case) steps(axes []int) (steps, middles [][]float64) {
	for _, p := range c.all() {
		var step, middle []float64
		for _, i := range axes {
			from, to := float64(c.Z[p.First*c.Dim+i]), float64(c.Z[(p.First+1)*c.Dim+i])
			step, middle = append(step, (to-from)/math.Sqrt(p.DT)), append(middle, (from+to)/2)
		}
		steps, middles = append(steps, step), append(middles, middle)
	}
	return steps, middles
}

// sorted returns the steps, sorted by their midpoints along axis k.
func sorted(steps, middles [][]float64, k int) [][]float64 {
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(middles[a][k], middles[b][k]) })
	out := make([][]float64, len(steps))
	for i, from := range order {
		out[i] = steps[from]
	}
	return out
}

// unequal divides sorted steps of d coordinates into regions and returns three values. The first is the likelihood ratio against one common covariance C,
//
//	n ln |C| - Σ n_g ln |C_g|,
//
// corrected by Box's factor and divided by 1 + κ(d+2)/2, the effect of the steps' kurtosis on the variance of a scale. The ratio is 0 if a covariance has no
// inverse. The others are its degrees of freedom, and the factor between the largest and the smallest mean of D'C⁻¹D over the regions.
func unequal(steps [][]float64, d int) (ratio, df, factor float64) {
	n := float64(len(steps))
	all, ok := rootOf(steps, d)
	if !ok {
		return 0, 1, 1
	}
	ratio = n * all.LogDet()
	inverse, kurtosis := 0.0, 0.0
	least, most := math.Inf(1), 0.0
	for g := range regions {
		part := steps[g*len(steps)/regions : (g+1)*len(steps)/regions]
		root, ok := rootOf(part, d)
		if !ok {
			return 0, 1, 1
		}
		ratio -= float64(len(part)) * root.LogDet()
		inverse += 1 / float64(len(part))
		mean := 0.0
		for _, step := range part {
			v := mat.NewVecDense(d, step)
			mean += square(stat.Mahalanobis(v, mat.NewVecDense(d, nil), all)) / float64(len(part))
			kurtosis += math.Pow(stat.Mahalanobis(v, mat.NewVecDense(d, nil), root), 4) / n
		}
		least, most = min(least, mean), max(most, mean)
	}
	k := float64(d)
	box := 1 - (inverse-1/n)*(2*k*k+3*k-1)/(6*(k+1)*(regions-1))
	excess := max(0, kurtosis/(k*(k+2))-1)
	return ratio * box / (1 + excess*(k+2)/2), k * (k + 1) / 2 * (regions - 1), most / least
}

// rootOf factorises the mean of DD' over the steps D.
func rootOf(steps [][]float64, d int) (*mat.Cholesky, bool) {
	c := mat.NewSymDense(d, nil)
	for _, step := range steps {
		c.SymRankOne(c, 1/float64(len(steps)), mat.NewVecDense(d, step))
	}
	var root mat.Cholesky
	ok := root.Factorize(c)
	return &root, ok
}
