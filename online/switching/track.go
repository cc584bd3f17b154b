package switching

import "math"

// Lag bounds how many frames back Earlier can look.
const Lag = 32

// half is the number of steps per harvest. At least as many later steps have followed each of them.
const half = Lag / 2

// earlier holds, for one step, the probability of each previous state given the present one, doc.go (3). Every object keeps Lag of them, hence single precision.
type earlier struct {
	given   [MostStates][MostStates]float32 // of the first state, given the second
	seconds float32                         // of the step; 0 for the first step of an object
}

// Track is the filter of one object. The zero value is empty. Use it with one Model only.
type Track struct {
	begun bool
	last  float64 // s
	n     int     // steps since it began
	left  int     // of these, steps already harvested
	now   vector  // probability of each state in the last step
	where [MostStates]belief
	ring  [Lag]earlier // of step i at i mod Lag
	still still
}

// Cut learns from the steps in the ring. The next place then starts a new track.
func (t *Track) Cut(m *Model) {
	t.harvest(m, t.n)
	t.begun = false
}

// Add updates the filter with a place.
func (t *Track) Add(m *Model, p Place) {
	if !t.begun || !(p.T > t.last) {
		t.begin(m, p)
		return
	}
	seconds := p.T - t.last
	e := &t.ring[t.n%Lag]
	e.seconds = float32(seconds)
	if t.n == 0 {
		e.seconds = 0
	}
	s := step{p, seconds, m.jump(seconds)}
	log := t.step(m, &s, e)
	t.still.add(m, &s, log)
	t.last = p.T
	if t.n++; t.n-t.left == Lag {
		t.harvest(m, t.n-half)
	}
}

func (t *Track) begin(m *Model, p Place) {
	t.begun, t.last, t.n, t.left, t.now = true, p.T, 0, 0, m.share
	for j := range m.states {
		t.where[j] = m.begin(p, m.config.D[j])
	}
	t.still.begin(m, p)
}

// step runs the filter from every state to every state, and merges filters that end in the same state; doc.go (2) and (3). It returns the ln likelihood
// of the place.
func (t *Track) step(m *Model, s *step, e *earlier) float64 {
	var logs, probability square
	var beliefs [MostStates][MostStates]belief
	change, n, most := m.after(s.seconds), m.states, math.Inf(-1)
	for i := range n {
		for j := range n {
			beliefs[i][j], logs[i][j] = m.advance(t.where[i], s, m.config.D[j])
			most = max(most, logs[i][j])
		}
	}
	total := 0.0
	for i := range n {
		for j := range n {
			probability[i][j] = t.now[i] * change[i][j] * math.Exp(s.place.Weight*(logs[i][j]-most))
			total += probability[i][j]
		}
	}
	for j := range n {
		sum := 0.0
		for i := range n {
			sum += probability[i][j]
		}
		t.now[j] = sum / total
		if !(sum > 0) { // unreachable: keep the state
			sum = math.SmallestNonzeroFloat64
			probability[j][j] = sum
		}
		t.where[j] = merge(&beliefs, &probability, sum, j, n)
		for i := range n {
			e.given[i][j] = float32(probability[i][j] / sum)
		}
	}
	return s.place.Weight*most + math.Log(total)
}

// merge returns the mean and variance of the beliefs that end in state j.
func merge(beliefs *[MostStates][MostStates]belief, probability *square, sum float64, j, n int) belief {
	var b belief
	for i := range n {
		w := probability[i][j] / sum
		b.x, b.y = b.x+w*beliefs[i][j].x, b.y+w*beliefs[i][j].y
	}
	for i := range n {
		w := probability[i][j] / sum
		dx, dy := beliefs[i][j].x-b.x, beliefs[i][j].y-b.y
		b.variance += w * (beliefs[i][j].variance + (dx*dx+dy*dy)/2)
	}
	return b
}

// Now writes the probability of each state in the last step into dst, and returns dst.
func (t *Track) Now(m *Model, dst []float64) []float64 {
	now := t.now
	if !t.begun {
		now = m.share
	}
	return append(dst[:0], now[:m.states]...)
}

// Steps returns the number of steps since the track began.
func (t *Track) Steps() int { return t.n }
