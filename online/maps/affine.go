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
func newAffine(flat *mat.SymDense, pull [2][3]float64, unit float64) (a affine) {
	info, b := mat.NewSymDense(affines, nil), mat.NewVecDense(affines, nil)
	for i := range affines {
		sum := 0.0
		for axis := range axes {
			sum += floats.Dot(spreads[i][axis][:], pull[axis][:])
		}
		b.SetVec(i, sum)
		for j := range i + 1 {
			sum := 0.0
			for axis := range axes {
				for k, p := range spreads[i][axis] {
					for l, q := range spreads[j][axis] {
						sum += p * q * flat.At(k, l)
					}
				}
			}
			info.SetSym(i, j, sum)
		}
	}
	var logs, with, without []float64
	var means []*mat.VecDense
	var covariances []*mat.SymDense
	var sets []int
	for set := range 1 << groups {
		for s := range sizes {
			if set == 0 && s > 0 {
				break
			}
			mean, covariance, evidence := combine(info, b, set, unit*math.Pow(sizeRatio, 2*float64(s)))
			logs, means, covariances, sets = append(logs, evidence+affinePrior(set)), append(means, mean), append(covariances, covariance), append(sets, set)
		}
	}
	a.evidence = floats.LogSumExp(logs)
	for g := range groups {
		with, without = with[:0], without[:0]
		for i, l := range logs {
			if sets[i]>>g&1 == 1 {
				with = append(with, l)
			} else {
				without = append(without, l)
			}
		}
		whole := floats.LogSumExp(with)
		a.odds[g] = whole - floats.LogSumExp(without)
		for c := range affines {
			if grouped[c] != g {
				continue
			}
			square := 0.0
			for i, l := range logs {
				if sets[i]>>g&1 == 1 {
					share, v := math.Exp(l-whole), means[i].AtVec(c)
					a.on[c] += share * v
					square += share * (v*v + covariances[i].At(c, c))
				}
			}
			a.sd[c] = math.Sqrt(max(square-a.on[c]*a.on[c], 0))
		}
	}
	mean, second := mat.NewVecDense(affines, nil), mat.NewSymDense(affines, nil)
	for i, l := range logs {
		share := math.Exp(l - a.evidence)
		mean.AddScaledVec(mean, share, means[i])
		second.SymRankOne(second, share, means[i])
		for p := range affines {
			for q := range p + 1 {
				second.SetSym(p, q, second.At(p, q)+share*covariances[i].At(p, q))
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

// combine is the posterior of one set of groups with coefficients of this variance, and its ln evidence.
func combine(info *mat.SymDense, b *mat.VecDense, set int, variance float64) (mean *mat.VecDense, covariance *mat.SymDense, evidence float64) {
	mean, covariance = mat.NewVecDense(affines, nil), mat.NewSymDense(affines, nil)
	var on []int
	for i, g := range grouped {
		if set>>g&1 == 1 {
			on = append(on, i)
		}
	}
	if len(on) == 0 {
		return mean, covariance, 0
	}
	precision, pull := mat.NewSymDense(len(on), nil), mat.NewVecDense(len(on), nil)
	for p, i := range on {
		pull.SetVec(p, b.AtVec(i))
		for q := range p + 1 {
			precision.SetSym(p, q, info.At(i, on[q]))
		}
		precision.SetSym(p, p, precision.At(p, p)+1/variance)
	}
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		return mean, covariance, math.Inf(-1)
	}
	found, v := mat.NewVecDense(len(on), nil), mat.NewSymDense(len(on), nil)
	if chol.SolveVecTo(found, pull) != nil || chol.InverseTo(v) != nil {
		return mean, covariance, math.Inf(-1)
	}
	for p, i := range on {
		mean.SetVec(i, found.AtVec(p))
		for q := range p + 1 {
			covariance.SetSym(i, on[q], v.At(p, q))
		}
	}
	return mean, covariance, (mat.Dot(found, pull) - chol.LogDet() - float64(len(on))*math.Log(variance)) / 2
}
