package maps

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The affine drifts: two constants, dilation, rotation and two shears, of u = (x-c)/ρ.
const (
	affines = 6
	groups  = 4
)

// spreads has, for each of them, the coefficients of 1, u₁, u₂ along x and along y.
var spreads = [affines][2][3]float64{
	{{1, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {1, 0, 0}},
	{{0, 1, 0}, {0, 0, 1}}, {{0, 0, -1}, {0, 1, 0}}, {{0, 1, 0}, {0, 0, -1}}, {{0, 0, 1}, {0, 1, 0}},
}

// grouped is which group each belongs to.
var grouped = [affines]int{0, 0, 1, 2, 3, 3}

// affine is what the steps say of the affine part: mean and covariance over all combinations of groups and sizes.
type affine struct {
	evidence   float64 // ln of it
	mean       [2][3]float64
	covariance [2]*mat.SymDense // of the three coefficients, along x and along y
	odds       [groups]float64  // ln of the evidence with each group over that without
	on, sd     [affines]float64 // of each coefficient, mean and standard deviation where its group is not left out
}

// newAffine takes the information F of 1, u₁, u₂, the same along both axes, and their b.
func newAffine(flat *mat.SymDense, pull [2][3]float64, unit float64) affine {
	return combine(flat, unit).affine(pull)
}

// affine is what the combinations make of b, on average.
func (c combinations) affine(pull [2][3]float64) (a affine) {
	means, logs, evidence := c.weigh(pull)
	a.evidence = evidence
	for g := range groups {
		c.group(&a, g, means, logs)
	}
	mean, second := mat.NewVecDense(affines, nil), mat.NewSymDense(affines, nil)
	for i, l := range logs {
		share := math.Exp(l - a.evidence)
		for p, v := range means[i] {
			mean.SetVec(p, mean.AtVec(p)+share*v)
			for q := range p + 1 {
				second.SetSym(p, q, second.At(p, q)+share*(v*means[i][q]+c[i].covariance[p][q]))
			}
		}
	}
	second.SymRankOne(second, -1, mean)
	for axis := range axes {
		turn := mat.NewDense(3, affines, nil)
		for i := range affines {
			for k, v := range spreads[i][axis] {
				turn.Set(k, i, v)
				a.mean[axis][k] += v * mean.AtVec(i)
			}
		}
		var half, full mat.Dense
		half.Mul(turn, second)
		full.Mul(&half, turn.T())
		a.covariance[axis] = mat.NewSymDense(3, nil)
		for k := range 3 {
			for l := range k + 1 {
				a.covariance[axis].SetSym(k, l, (full.At(k, l)+full.At(l, k))/2)
			}
		}
	}
	return a
}

// group tells of one group: how much is for it, and its coefficients where it is not left out.
func (c combinations) group(a *affine, g int, means [][affines]float64, logs []float64) {
	var with, without []float64
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
