package sdevae

import "math"

// adam is Kingma and Ba's optimiser with the usual constants: one first and one second moment a weight.
type adam struct {
	step int
	m, v [][]float32
}

const (
	beta1     = 0.9
	beta2     = 0.999
	adamFloor = 1e-8
)

func newAdam(params []parameter) *adam {
	a := &adam{}
	for _, p := range params {
		a.m = append(a.m, make([]float32, len(p.weight)))
		a.v = append(a.v, make([]float32, len(p.weight)))
	}
	return a
}

// update moves every weight of the machine that does not rest by one step of the given rate.
func (a *adam) update(t *machine, rate float64) error {
	a.step++
	for i, p := range t.params {
		n := float64(a.step - max(p.lead, 0))
		if n <= 0 {
			continue
		}
		scale := float32(p.pace * rate * math.Sqrt(1-math.Pow(beta2, n)) / (1 - math.Pow(beta1, n)))
		grad, err := t.gradient(i)
		if err != nil {
			return err
		}
		m, v := a.m[i], a.v[i]
		for j, g := range grad {
			m[j] = beta1*m[j] + (1-beta1)*g
			v[j] = beta2*v[j] + (1-beta2)*g*g
			p.weight[j] -= scale * m[j] / (float32(math.Sqrt(float64(v[j]))) + adamFloor)
		}
	}
	return nil
}
