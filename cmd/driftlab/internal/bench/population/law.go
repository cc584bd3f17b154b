package population

import (
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/online/exact"
	"driftscope/online/onlinetest"
)

// lawColumns are the columns of the law table.
var lawColumns = []column{law, figure("false", func(c *Cell) *float64 { return c.False }), {"   told as", func(c *Cell) string { return c.Instead }}}

// nulls are sets of tracks for which a claim is false, each with the kinds that are true.
var nulls = []struct {
	name string
	set  onlinetest.Set
	may  []exact.Kind
}{
	{"free", onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.3}, nil},
	{"lognormal D", onlinetest.Set{Tracks: 40, Places: 40, D: 1, DSpread: 0.6, Noise: 0.3}, nil},
	{"alpha 0.5", onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.1, Alpha: 0.5}, []exact.Kind{exact.Fractional}},
	{"alpha 1.5", onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.1, Alpha: 1.5}, []exact.Kind{exact.Fractional}},
	{"trapped", onlinetest.Set{Tracks: 20, Places: 100, D: 1, Noise: 0.2, Rate: 0.2}, []exact.Kind{exact.Trapped}},
	{"a line", onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.3, Line: true}, nil},
	{"bad places", onlinetest.Set{Tracks: 20, Places: 120, D: 1, Noise: 0.2, Bad: 5}, nil},
	{"blur", onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.2, Exposure: 1}, nil},
	{"short", onlinetest.Set{Tracks: 300, Places: 5, D: 1, Noise: 0.3}, nil},
	{"gaps", onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.3, Missing: 0.25}, nil},
	{"flow", onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.3, Flow: [2]float64{0.5, 0.2}}, []exact.Kind{exact.Directed}},
}

// claims measures how often Infer claims a law that the tracks do not have.
func claims(b *bench) (out []Cell, err error) {
	for i, null := range nulls {
		c := Cell{Study: "law", Of: "claims", Law: null.name, Tracks: null.set.Tracks, Frames: null.set.Places, Exposed: null.set.Exposure, Runs: b.runs}
		wrong, names := make([]bool, b.runs), make([]string, b.runs)
		err := b.each(3<<20+uint64(i), b.runs, func(run int, rng *rand.Rand) {
			l, ok := exact.Infer(null.set.Draw(rng), exact.Options{Exposure: null.set.Exposure, Cores: 1})
			kind := l.Kind
			if kind == exact.Held && len(null.may) > 0 {
				kind = null.may[0]
			}
			if wrong[run] = !ok || kind != exact.Free && !slices.Contains(null.may, kind) || l.Kind == exact.Held && kind == exact.Directed; wrong[run] && ok {
				names[run] = l.Kind.String()
			}
		})
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if name != "" {
				c.Instead = name
			}
		}
		c.False = share(wrong)
		out = append(out, c)
	}
	return out, nil
}

// traps measures how often the intervals of a trap's parameters hold the truth, for several rates and noises.
func traps(b *bench) (out []Cell, err error) {
	cell := uint64(4 << 20)
	for _, rate := range []float64{0.02, 0.1, 0.3, 1, 2} {
		for _, noise := range []float64{0, 0.3, 1} {
			cell++
			turn := 0.0
			if noise == 0.3 && rate <= 0.3 {
				turn = rate // with rotation
			}
			sd := noise * math.Sqrt(-math.Expm1(-2*rate)/rate)
			set := onlinetest.Set{Tracks: 4, Places: 500, D: 1, Rate: rate, Turn: turn, Noise: sd}
			held := map[string][]bool{"D": make([]bool, b.runs), "rate": make([]bool, b.runs), "noise": make([]bool, b.runs), "rotation": make([]bool, b.runs)}
			err := b.each(cell, b.runs, func(run int, rng *rand.Rand) {
				t, _ := exact.FitTrap(set.Draw(rng), 0)
				inside := func(i exact.Interval, v float64) bool { return i.Low <= v && v <= i.High }
				held["D"][run], held["rate"][run] = inside(t.D, 1), inside(t.Rate, rate)
				held["noise"][run], held["rotation"][run] = inside(t.Noise, sd), inside(t.Rotation, turn) || inside(t.Rotation, -turn)
			})
			if err != nil {
				return nil, err
			}
			for _, of := range []string{"D", "rate", "noise", "rotation"} {
				if of != "rotation" || turn > 0 {
					out = append(out, Cell{Study: "trap", Of: of, Law: "trapped", Tracks: set.Tracks, Frames: set.Places, R: noise, Rate: rate, Runs: b.runs, Coverage: share(held[of])})
				}
			}
		}
	}
	return out, nil
}
