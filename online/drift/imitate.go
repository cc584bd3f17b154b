package drift

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// imitationRate is Adam's first learning rate. It falls to 0 as half a cosine.
const imitationRate = 1e-2

// Imitate trains the weights until size times the network's value at each point (n×d) is close to target (n×d). size is the RMS norm of target, and gap is
// the remaining mean square error. Training stops early once gap is at most enough, or if cancel is set.
func (n *Network) Imitate(points, target []float64, steps int, enough float64, cancel *Cancel) (size, gap float64) {
	size = math.Sqrt(meanSquare(target) * float64(n.Dim))
	count := len(points) / n.Dim
	t, grad, optimiser := newTape(n, count), make([]float64, n.Size()), newAdam(n.Size())
	for step := range steps {
		if cancel.IsSet() {
			break
		}
		t.forward(n, points)
		for k, mu := range t.out.Data {
			t.dOut.Data[k] = (mu - target[k]/size) / float64(count)
		}
		if gap = square(t.dOut.Data, size*float64(count)); gap <= enough {
			return size, gap
		}
		t.backward(grad, n)
		optimiser.descend(n.Weights, grad, imitationRate*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2)
	}
	t.forward(n, points)
	floats.AddScaled(t.out.Data, -1/size, target)
	return size, square(t.out.Data, size)
}

// square returns the mean square of scale times x.
func square(x []float64, scale float64) float64 { return scale * scale * meanSquare(x) }

func meanSquare(x []float64) float64 { return floats.Dot(x, x) / float64(len(x)) }
