package switching

import "math"

// every is how many harvests lie between two revisions of the rates: one of 1000 objects' at 50 frames a second brings 16 steps, so they are a fiftieth of a
// second apart.
const every = 64

// believed is the weight of what is believed of a rate, in switches: half of one, as where nothing is known (Jeffreys).
const believed = 0.5

// refresh makes rates and shares of the sums, doc.go (4).
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
		m.share[i] = (m.stayed[i] + 1) / total // a second of each
	}
	m.cached = [kept]transition{}
}

// fading is the power of a harvest's place among all that it counts by: the early ones were read by rates that were not right yet, and would hold the
// later ones back. At 2 the rates' variance is 9/5 of that of all harvests alike.
const fading = 2.0

// harvested counts a harvest.
func (m *Model) harvested() {
	m.harvests++
	if m.harvests%every == 0 {
		m.refresh()
	}
}

// yield makes the harvests so far count less beside the next one.
func (m *Model) yield() {
	keep := max(1-fading/float64(m.harvests+1), 0)
	for i := range m.states {
		for j := range m.states {
			m.switched[i][j] *= keep
		}
		m.stayed[i] *= keep
	}
}

// transition is the probability of each state after some time, doc.go (1).
type transition struct {
	seconds float64
	p       square
}

// kept is how many times' transitions are kept: a frame's, and gaps of some lengths.
const kept = 8

// after is the transition over a time.
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

// exponential is exp(At) of n states: a series where the exponent is small, squared until it is not.
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

// product is that of two n by n matrices.
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
