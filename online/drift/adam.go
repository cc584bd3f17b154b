package drift

import "math"

// adam is the state of the optimiser Adam of Kingma and Ba (2015) with β₁ = 0.9, β₂ = 0.999.
type adam struct {
	first  []float64 // first moments of the gradient
	second []float64 // second moments of the gradient
	steps  uint64
}

func newAdam(n int) adam { return adam{first: make([]float64, n), second: make([]float64, n)} }

// descend moves the weights one step against the gradient.
func (a *adam) descend(weights, grad []float64, rate float64) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	a.steps++
	t := float64(a.steps)
	unbias1, unbias2 := 1-math.Pow(beta1, t), 1-math.Pow(beta2, t)
	for k, g := range grad {
		a.first[k] = beta1*a.first[k] + (1-beta1)*g
		a.second[k] = beta2*a.second[k] + (1-beta2)*g*g
		weights[k] -= rate * a.first[k] / unbias1 / (math.Sqrt(a.second[k]/unbias2) + epsilon)
	}
}
