package network

import "math"

// Adam is Kingma and Ba's optimiser with the usual constants. First and Second are the moments of each weight.
type Adam struct {
	Steps         int
	First, Second [][]float32
}

// Memory is the weight of earlier steps in a running mean: Adam's β₁.
const Memory = 0.9

const (
	beta1     = Memory
	beta2     = 0.999
	adamFloor = 1e-8
)

// NewAdam returns an optimiser whose moments are 0.
func NewAdam(params []Parameter) *Adam {
	a := &Adam{}
	for _, p := range params {
		a.First = append(a.First, make([]float32, len(p.Weight)))
		a.Second = append(a.Second, make([]float32, len(p.Weight)))
	}
	return a
}

// Update moves every weight of the machine that is not frozen by one step with the given rate.
func (a *Adam) Update(t *Machine, rate float64) error {
	a.Steps++
	for i, p := range t.Params {
		n := float64(a.Steps - max(p.Freeze, 0))
		if n <= 0 {
			continue
		}
		scale := float32(p.rate * rate * math.Sqrt(1-math.Pow(beta2, n)) / (1 - math.Pow(beta1, n)))
		grad, err := t.gradient(i)
		if err != nil {
			return err
		}
		m, v := a.First[i], a.Second[i]
		for j, g := range grad {
			m[j] = beta1*m[j] + (1-beta1)*g
			v[j] = beta2*v[j] + (1-beta2)*g*g
			p.Weight[j] -= scale * m[j] / (float32(math.Sqrt(float64(v[j]))) + adamFloor)
		}
	}
	return nil
}
