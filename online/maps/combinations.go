package maps

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// combination is one set of groups with one size. Its posterior covariance and its prior evidence do not depend on b.
type combination struct {
	set        int // bit g: group g is present
	covariance [affines][affines]float64
	prior      float64 // ln evidence at b = 0, plus the ln probability of the choice
}

// choosable is the number of combinations: the empty set, and every other set of groups in every size.
const choosable = 1 + (1<<groups-1)*sizes

// combinations holds all combinations for one information matrix.
type combinations [choosable]combination

func (c *combination) has(group int) bool { return c.set>>group&1 == 1 }

// combine fills c from flat, the information matrix of 1, u₁, u₂, which is equal along both axes. unit is the variance of the smallest size.
func (c *combinations) combine(flat *square3, unit float64) {
	var info [affines][affines]float64
	for i := range affines {
		for j := range affines {
			for axis := range axes {
				for k, p := range spreads[i][axis] {
					for l, q := range spreads[j][axis] {
						info[i][j] += p * q * flat[k][l]
					}
				}
			}
		}
	}
	c[0] = combination{prior: affinePriors[0]}
	for s := range sizes {
		variance := unit * math.Pow(sizeRatio, 2*float64(s))
		for set := 1; set < 1<<groups; set++ {
			c[1+(set-1)*sizes+s].one(&info, set, variance)
		}
	}
}

// affinePriors holds the ln probability of each set of groups, at one size.
var affinePriors = func() (all [1 << groups]float64) {
	for set := range all {
		all[set] = affinePrior(set)
	}
	return all
}()

// affinePrior returns the ln probability of a set of groups, at one size.
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

// one fills c for a set of groups whose coefficients have the given variance.
func (c *combination) one(info *[affines][affines]float64, set int, variance float64) {
	*c = combination{set: set, prior: affinePriors[set]}
	sd := math.Sqrt(variance)
	var on [affines]int
	n := 0
	for i, g := range grouped {
		if c.has(g) {
			on[n] = i
			n++
		}
	}
	det := 1.0 // of L, in units of the coefficients' standard deviation
	// the precision is LL', and column q of L⁻¹ gives the inverse L⁻ᵀL⁻¹
	var l, back [affines][affines]float64
	for p := range n {
		for q := range p + 1 {
			sum := info[on[p]][on[q]]
			if p == q {
				sum += 1 / variance
			}
			for k := range q {
				sum -= l[p][k] * l[q][k]
			}
			if p > q {
				l[p][q] = sum / l[q][q]
				continue
			}
			if !(sum > 0) {
				c.prior = math.Inf(-1)
				return
			}
			l[p][p] = math.Sqrt(sum)
			det *= l[p][p] * sd
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
	c.prior -= math.Log(det)
}

// weigh returns the mean and the ln evidence of every combination, and the total ln evidence.
func (c *combinations) weigh(pull [2][3]float64) (means [choosable][affines]float64, logs [choosable]float64, evidence float64) {
	var b [affines]float64
	for i := range b {
		for axis := range axes {
			b[i] += floats.Dot(spreads[i][axis][:], pull[axis][:])
		}
	}
	for i := range c {
		for p := range b {
			means[i][p] = floats.Dot(c[i].covariance[p][:], b[:])
		}
		logs[i] = c[i].prior + floats.Dot(means[i][:], b[:])/2
	}
	return means, logs, floats.LogSumExp(logs[:])
}
