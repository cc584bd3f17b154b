package switching

// Earlier writes the probability of each state lag frames ago into dst, given all later places, and returns dst. lag must be less than Lag. dst is empty
// if lag reaches back before the track.
func (t *Track) Earlier(m *Model, lag int, dst []float64) []float64 {
	dst = dst[:0]
	if lag < 0 || lag >= Lag || lag >= t.n {
		return dst
	}
	at := t.now
	for k := range lag {
		at = t.ring[(t.n-1-k)%Lag].before(&at, m.states)
	}
	return append(dst, at[:m.states]...)
}

// before returns the state probabilities in the previous step, given those in this step; doc.go (3).
func (e *earlier) before(at *vector, n int) (before vector) {
	for i := range n {
		for j := range n {
			before[i] += float64(e.given[i][j]) * at[j]
		}
	}
	return before
}

// harvest learns from the steps before to, each once.
func (t *Track) harvest(m *Model, to int) {
	if !t.begun || t.left >= to {
		return
	}
	m.yield()
	at := t.now
	for k := t.n - 1; k >= t.left; k-- {
		e := &t.ring[k%Lag]
		if k < to {
			m.learn(e, &at)
		}
		at = e.before(&at, m.states)
	}
	t.left = to
	m.harvested()
}

// learn adds a step to the sums behind the rates, doc.go (4). The state before the first step of an object is unknown.
func (m *Model) learn(e *earlier, at *vector) {
	seconds := float64(e.seconds)
	for i := range m.states {
		for j := range m.states {
			both := float64(e.given[i][j]) * at[j]
			m.stayed[i] += both * seconds
			if i != j && seconds > 0 {
				m.switched[i][j] += both
			}
		}
	}
}
