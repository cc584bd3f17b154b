package switching

// Switch is one change of state.
type Switch struct {
	Step        int // first step in the new state; step 0 leads from the first place to the second
	From, To    int
	Probability float64 // that this switch happened within Window steps
	Low, High   int     // 95 % interval of the step, given that it happened
}

// Window is the number of steps around a switch that belong to it.
const Window = 8

// Path holds the states of a whole track.
type Path struct {
	Likeliest []int       // likeliest sequence, one state per step
	States    [][]float64 // probability of each state in each step
	Switches  []Switch    // of the likeliest way
	Log       float64     // ln likelihood
}

// Trace reads a whole track forwards and backwards. It learns nothing.
func (m *Model) Trace(places []Place) *Path {
	p := &Path{}
	if len(places) < 2 {
		return p
	}
	var t Track
	t.begin(m, places[0])
	steps := make([]earlier, len(places)-1)
	now := make([]vector, len(steps))
	for k := range steps {
		s := step{place: places[k+1], seconds: places[k+1].T - places[k].T}
		s.jump = m.jump(s.seconds)
		p.Log += t.step(m, &s, &steps[k])
		now[k] = t.now
	}
	at := t.now
	for k := len(steps) - 1; k >= 0; k-- {
		now[k] = at
		at = steps[k].before(&at, m.states)
	}
	for k := range now {
		p.States = append(p.States, append([]float64(nil), now[k][:m.states]...))
	}
	p.Likeliest = likeliest(steps, &t.now, m.states)
	for k := 1; k < len(steps); k++ {
		if from, to := p.Likeliest[k-1], p.Likeliest[k]; from != to {
			p.Switches = append(p.Switches, describe(steps, now, Switch{Step: k, From: from, To: to}))
		}
	}
	return p
}

// likeliest returns the likeliest sequence of states (Viterbi), from the chain (3) backwards from the last step.
func likeliest(steps []earlier, last *vector, n int) []int {
	// best[i] is the greatest probability over sequences up to step k with state i in step k
	var best vector
	from := make([][MostStates]int, len(steps))
	for i := range n {
		best[i] = 1
	}
	for k := 1; k < len(steps); k++ {
		var next vector
		largest := 0.0
		for j := range n {
			for i := range n {
				if v := best[i] * float64(steps[k].given[i][j]); v > next[j] {
					next[j], from[k][j] = v, i
				}
			}
			largest = max(largest, next[j])
		}
		for j := range n {
			best[j] = next[j] / largest
		}
	}
	state := 0
	for j := range n {
		if best[j]*last[j] > best[state]*last[state] {
			state = j
		}
	}
	path := make([]int, len(steps))
	for k := len(steps) - 1; k >= 0; k-- {
		path[k] = state
		state = from[k][state]
	}
	return path
}

// describe adds the probability and interval of a switch, from equal switches around it.
func describe(steps []earlier, now []vector, s Switch) Switch {
	first, last := max(1, s.Step-Window), min(len(steps)-1, s.Step+Window)
	var at [2*Window + 1]float64
	for k := first; k <= last; k++ {
		at[k-first] = float64(steps[k].given[s.From][s.To]) * now[k][s.To]
		s.Probability += at[k-first]
	}
	sum := 0.0
	s.Low, s.High = first, last
	for k := first; k <= last; k++ {
		if sum < 0.025*s.Probability {
			s.Low = k
		}
		sum += at[k-first]
		if sum < 0.975*s.Probability {
			s.High = min(k+1, last)
		}
	}
	// a switch within a step appears at its beginning or its end
	s.Low, s.High, s.Probability = max(s.Low-1, 0), min(s.High+1, len(steps)-1), min(s.Probability, 1)
	return s
}
