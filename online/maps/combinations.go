package maps

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// combination is one choice of groups and of their size, with what the information says of it before there is a b.
type combination struct {
	set        int // bit g: group g is there
	covariance [affines][affines]float64
	prior      float64 // ln evidence where b is 0, with the probability of the choice
}

// combinations are all of them, by one information.
type combinations []combination

func (c *combination) has(group int) bool { return c.set>>group&1 == 1 }

// combine takes the information F of 1, u₁, u₂, the same along both axes; unit is the variance of the least size.
func combine(flat *mat.SymDense, unit float64) combinations {
	var info [affines][affines]float64
	for i := range affines {
		for j := range affines {
			for axis := range axes {
				for k, p := range spreads[i][axis] {
					for l, q := range spreads[j][axis] {
						info[i][j] += p * q * flat.At(k, l)
					}
				}
			}
		}
	}
	all := combinations{{prior: affinePrior(0)}}
	for set := 1; set < 1<<groups; set++ {
		for s := range sizes {
			all = append(all, one(&info, set, unit*math.Pow(sizeRatio, 2*float64(s))))
		}
	}
	return all
}

// affinePrior is the ln probability of a set of groups, at one size.
func affinePrior(set int) float64 {
	on := 0
	for g := range groups {
		on += set >> g & 1
	}
	if on == 0 {
		return math.Log(noAffine)
	}
	choose := [groups + 1]float64{1, 4, 6, 4, 1}
	return math.Log(1-noAffine) - math.Log(groups*choose[on]*sizes)
}

// one is a set of groups with coefficients of this variance.
func one(info *[affines][affines]float64, set int, variance float64) combination {
	c := combination{set: set, prior: affinePrior(set)}
	var on []int
	for i, g := range grouped {
		if c.has(g) {
			on = append(on, i)
		}
	}
	n := len(on)
	// the precision is LL', and column q of L⁻¹ gives the inverse L⁻ᵀL⁻¹
	var l, back [affines][affines]float64
	for p := range n {
		for q := range p + 1 {
			sum := info[on[p]][on[q]]
			if p == q {
				sum += 1 / variance
			}
			sum -= floats.Dot(l[p][:q], l[q][:q])
			if p > q {
				l[p][q] = sum / l[q][q]
				continue
			}
			if !(sum > 0) {
				c.prior = math.Inf(-1)
				return c
			}
			l[p][p] = math.Sqrt(sum)
			c.prior -= math.Log(l[p][p]) + math.Log(variance)/2
		}
		back[p][p] = 1 / l[p][p]
		for q := range p {
			for k := q; k < p; k++ {
				back[p][q] -= l[p][k] * back[k][q] / l[p][p]
			}
		}
	}
	for p := range n {
		for q := range n {
			for k := max(p, q); k < n; k++ {
				c.covariance[on[p]][on[q]] += back[k][p] * back[k][q]
			}
		}
	}
	return c
}

// weigh gives the mean of every combination, its ln evidence, and that of all.
func (c combinations) weigh(pull [2][3]float64) (means [][affines]float64, logs []float64, evidence float64) {
	var b [affines]float64
	for i := range b {
		for axis := range axes {
			b[i] += floats.Dot(spreads[i][axis][:], pull[axis][:])
		}
	}
	means, logs = make([][affines]float64, len(c)), make([]float64, len(c))
	for i := range c {
		for p := range b {
			means[i][p] = floats.Dot(c[i].covariance[p][:], b[:])
		}
		logs[i] = c[i].prior + floats.Dot(means[i][:], b[:])/2
	}
	return means, logs, floats.LogSumExp(logs)
}
