package switching

// Earlier writes the probability of each state some frames ago into dst, by all that came since, and gives it. The lag is less than Lag; before the track
// began dst is empty.
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

// before is the probability of the states in the step before, given that of the states in this one; doc.go (3).
func (e *earlier) before(at *vector, n int) (before vector) {
	for i := range n {
		for j := range n {
			before[i] += float64(e.given[i][j]) * at[j]
		}
	}
	return before
}

// harvest learns from the steps up to one, and from none twice.
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

// learn adds what a step tells of rates, doc.go (4). What came before an object's first step is not known.
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
