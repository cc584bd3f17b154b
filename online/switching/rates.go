package switching

import "math"

// every is the number of harvests between two updates of the rates. A harvest brings 16 steps; 1000 objects at 50 frames/s update the rates every
// fiftieth of a second.
const every = 64

// believed is the prior weight of a rate, in switches: half a switch (Jeffreys).
const believed = 0.5

// refresh computes rates and shares from the sums, doc.go (4).
func (m *Model) refresh() {
	total := 0.0
	for i := range m.states {
		m.rates[i][i] = 0
		for j := range m.states {
			if i != j {
				m.rates[i][j] = (m.switched[i][j] + believed/float64(m.states-1)) / (m.stayed[i] + believed*m.config.Lasts)
				m.rates[i][i] -= m.rates[i][j]
			}
		}
		total += m.stayed[i] + 1
	}
	for i := range m.states {
		m.share[i] = (m.stayed[i] + 1) / total // the prior is one second per state
	}
	m.cached = [kept]transition{}
}

// fading is the power of its rank by which a harvest is weighted. Early harvests used wrong rates, and would bias later ones. At 2, the variance of the
// rates is 9/5 times the variance with equal weights.
const fading = 2.0

// harvested counts a harvest.
func (m *Model) harvested() {
	m.harvests++
	if m.harvests%every == 0 {
		m.refresh()
	}
}

// yield reduces the weight of the earlier harvests against the next one.
func (m *Model) yield() {
	keep := max(1-fading/float64(m.harvests+1), 0)
	for i := range m.states {
		for j := range m.states {
			m.switched[i][j] *= keep
		}
		m.stayed[i] *= keep
	}
}

// transition holds the switching probabilities over some time, doc.go (1).
type transition struct {
	seconds float64
	p       square
}

// kept is the number of cached transitions: for one frame, and for gaps of some lengths.
const kept = 8

// after returns the transition over a time.
func (m *Model) after(seconds float64) *square {
	for i := range m.cached {
		if m.cached[i].seconds == seconds {
			return &m.cached[i].p
		}
	}
	t := &m.cached[m.next]
	m.next = (m.next + 1) % kept
	t.seconds = seconds
	t.p = exponential(&m.rates, seconds, m.states)
	return &t.p
}

// exponential returns exp(At) for n states: a series with scaling and squaring.
func exponential(a *square, t float64, n int) square {
	const terms, small = 8, 1.0 / 8 // the next term is 1e-13
	largest := 0.0
	for i := range n {
		largest = max(largest, -a[i][i]*t)
	}
	squarings := 0
	for ; largest > small && squarings < 60; squarings++ {
		largest, t = largest/2, t/2
	}
	var sum, term square
	for i := range n {
		sum[i][i], term[i][i] = 1, 1
	}
	for k := 1; k <= terms; k++ {
		term = product(&term, a, n)
		for i := range n {
			for j := range n {
				term[i][j] *= t / float64(k)
				sum[i][j] += term[i][j]
			}
		}
	}
	for range squarings {
		sum = product(&sum, &sum, n)
	}
	for i := range n {
		for j := range n {
			sum[i][j] = math.Max(sum[i][j], 0)
		}
	}
	return sum
}

// product returns the product of two n by n matrices.
func product(a, b *square, n int) (c square) {
	for i := range n {
		for k := range n {
			for j := range n {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}
