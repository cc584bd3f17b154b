package switching

import (
	"fmt"
	"math"
	"slices"
)

// MostStates is how many states there may be.
const MostStates = 6

// Config is what a Model is told.
type Config struct {
	D        []float64 // of each state, rising, px²/s
	Noise    float64   // variance of a place along an axis, px²
	Exposure float64   // s over which a place is averaged
	Lasts    float64   // s that a state is believed to last before any switch is seen; DefaultLasts where 0
	Memory   float64   // s after which a switch counts 1/e; 0 where none is forgotten
}

// Evident is the evidence from which objects are told to switch, nats: twenty to one.
var Evident = math.Log(20)

// DefaultLasts is Config's: a thousand frames at 50 a second, so that nothing switches at the beginning.
const DefaultLasts = 20.0

// vector has a number for each state, square one for every two: from the first to the second.
type (
	vector [MostStates]float64
	square [MostStates][MostStates]float64
)

// Model is what all objects share: the states, and how often they switch. It belongs to one goroutine.
type Model struct {
	config Config
	states int
	levels []float64 // D of objects that do not switch: the states', and between them

	switched square // Σ of expected switches, doc.go (4)
	stayed   vector // Σ of expected time in each state, s
	versus   [2]float64
	steps    float64

	rates    square // 1/s
	share    vector // probability of each state
	harvests int
	jumps    float64 // share of steps that are jumps
	cached   [kept]transition
	next     int
}

// between is how many levels there are from a state to the next: D that differ by more than this are told apart in some ten steps.
const between = 2

// New is a model of which no switch was seen.
func New(c Config) (*Model, error) {
	if c.Lasts == 0 {
		c.Lasts = DefaultLasts
	}
	c.D = slices.Clone(c.D)
	m := &Model{config: c, states: len(c.D), jumps: jumpShare}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.level()
	m.refresh()
	return m, nil
}

// check refuses what has no meaning.
func (m *Model) check() error {
	c := &m.config
	if n := len(c.D); n < 1 || n > MostStates {
		return fmt.Errorf("%d states: expected 1 to %d", n, MostStates)
	}
	for i, d := range c.D {
		if !(d > 0) || math.IsInf(d, 1) || i > 0 && d <= c.D[i-1] {
			return fmt.Errorf("states of D %v px²/s: expected rising numbers above zero", c.D)
		}
	}
	if !(c.Noise >= 0) || !(c.Exposure >= 0) || !(c.Lasts > 0) || !(c.Memory >= 0) {
		return fmt.Errorf("a noise of %g px², an exposure of %g s, states that last %g s and a memory of %g s: expected none below zero", c.Noise, c.Exposure, c.Lasts, c.Memory)
	}
	return nil
}

// level makes the levels: the states first.
func (m *Model) level() {
	m.levels = append(m.levels[:0], m.config.D...)
	for i := range m.states - 1 {
		low, high := m.config.D[i], m.config.D[i+1]
		for k := range between {
			m.levels = append(m.levels, low*math.Pow(high/low, float64(k+1)/(between+1)))
		}
	}
}

// Tell gives the states another D, as many as there are, and their places another variance; what is known of their rates stays. The error refuses both.
func (m *Model) Tell(d []float64, noise float64) error {
	was := m.config
	m.config.D, m.config.Noise = slices.Clone(d), noise
	err := m.check()
	if err == nil && len(d) != m.states {
		err = fmt.Errorf("%d states in place of %d: make another model", len(d), m.states)
	}
	if err != nil {
		m.config = was
		return err
	}
	m.level()
	return nil
}

// States is how many there are.
func (m *Model) States() int { return m.states }

// D is a state's, px²/s.
func (m *Model) D(state int) float64 { return m.config.D[state] }

// Rate is how often a state switches to another, 1/s.
func (m *Model) Rate(from, to int) float64 { return m.rates[from][to] }

// Share is the part of all time that objects are in a state.
func (m *Model) Share(state int) float64 { return m.share[state] }

// Switches is how many switches the rates rest on.
func (m *Model) Switches() float64 {
	n := 0.0
	for i := range m.states {
		for j := range m.states {
			n += m.switched[i][j]
		}
	}
	return n
}

// Steps is how many steps the evidence rests on.
func (m *Model) Steps() float64 { return m.steps }

// Evidence is ln p(steps | objects switch)/p(steps | each keeps its D), doc.go (5). Each step is told by the rates that were learnt before it, so that nothing
// need be taken off for rates that are fitted. The D that is kept is a state's, or one between them: the better of both.
func (m *Model) Evidence() float64 { return min(m.versus[0], m.versus[1]) }

// Pass is called once a frame, s after the one before: it forgets.
func (m *Model) Pass(seconds float64) {
	if m.config.Memory == 0 {
		return
	}
	keep := math.Exp(-seconds / m.config.Memory)
	for i := range m.states {
		for j := range m.states {
			m.switched[i][j] *= keep
		}
		m.stayed[i] *= keep
	}
	m.versus[0], m.versus[1], m.steps = m.versus[0]*keep, m.versus[1]*keep, m.steps*keep
}
