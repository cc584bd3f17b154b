package maps

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The affine drifts are two constants, dilation, rotation and two shears, as functions of u = (x-c)/ρ.
const (
	affines = 6
	groups  = 4
)

// spreads holds, for each affine drift, the coefficients of 1, u₁, u₂ along x and along y.
var spreads = [affines][2][3]float64{
	{{1, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {1, 0, 0}},
	{{0, 1, 0}, {0, 0, 1}}, {{0, 0, -1}, {0, 1, 0}}, {{0, 1, 0}, {0, 0, -1}}, {{0, 0, 1}, {0, 1, 0}},
}

// grouped maps each affine drift to its group.
var grouped = [affines]int{0, 0, 1, 2, 3, 3}

// affine is the posterior of the affine part: mean and covariance over all combinations of groups and sizes.
type affine struct {
	evidence   float64 // ln
	mean       [2][3]float64
	covariance [2]square3       // of the three coefficients, along x and along y
	odds       [groups]float64  // ln evidence with each group minus without it
	on, sd     [affines]float64 // mean and standard deviation of each coefficient, given its group
}

// square3 is a symmetric 3×3 matrix.
type square3 [3][3]float64

// affine averages the combinations, given the vector b of the affine functions, pull.
func (c *combinations) affine(pull [2][3]float64) (a affine) {
	means, logs, evidence := c.weigh(pull)
	a.evidence = evidence
	for g := range groups {
		c.group(&a, g, &means, &logs)
	}
	var mean [affines]float64
	var second [affines][affines]float64
	for i, l := range logs {
		share := math.Exp(l - a.evidence)
		for p, v := range means[i] {
			mean[p] += share * v
			for q, w := range means[i] {
				second[p][q] += share * (v*w + c[i].covariance[p][q])
			}
		}
	}
	for axis := range axes {
		for i, to := range spreads {
			for k, v := range to[axis] {
				a.mean[axis][k] += v * mean[i]
				for j, from := range spreads {
					for l, w := range from[axis] {
						a.covariance[axis][k][l] += v * w * (second[i][j] - mean[i]*mean[j])
					}
				}
			}
		}
	}
	return a
}

// group fills in the odds of group g, and its coefficients given that the group is present.
func (c *combinations) group(a *affine, g int, means *[choosable][affines]float64, logs *[choosable]float64) {
	var room [2][choosable]float64
	with, without := room[0][:0], room[1][:0]
	for i, l := range logs {
		if c[i].has(g) {
			with = append(with, l)
		} else {
			without = append(without, l)
		}
	}
	whole := floats.LogSumExp(with)
	a.odds[g] = whole - floats.LogSumExp(without)
	for k := range affines {
		if grouped[k] != g {
			continue
		}
		square := 0.0
		for i, l := range logs {
			if c[i].has(g) {
				share, v := math.Exp(l-whole), means[i][k]
				a.on[k] += share * v
				square += share * (v*v + c[i].covariance[k][k])
			}
		}
		a.sd[k] = math.Sqrt(max(square-a.on[k]*a.on[k], 0))
	}
}
