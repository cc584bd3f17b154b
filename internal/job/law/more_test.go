package law

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
	"driftscope/online/states"
)

// rows is the text of a table of tracks.
type rows struct{ bytes.Buffer }

func (r *rows) add(frame, particle int, x, y float64) {
	if r.Len() == 0 {
		r.WriteString("frame,particle,x,y\n")
	}
	fmt.Fprintf(r, "%d,%d,%g,%g\n", frame, particle, x, y)
}

// file writes the table and returns its path.
func (r *rows) file(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "tracks.csv")
	if err := os.WriteFile(path, r.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const dt = 0.02

// switchers returns tracks of objects in two states, which leave each state at a rate, and the number of switches.
func switchers(rate float64) (r rows, switches int) {
	rng := rand.New(rand.NewPCG(5, 6))
	for particle := range 60 {
		state, x, y := rng.IntN(2), 50.0, 50.0
		for frame := range 150 {
			r.add(frame, particle, x+0.1*rng.NormFloat64(), y+0.1*rng.NormFloat64())
			if frame > 0 && rng.Float64() < rate*dt {
				state = 1 - state
				switches++
			}
			sd := math.Sqrt(2 * []float64{0.5, 10}[state] * dt)
			x, y = x+sd*rng.NormFloat64(), y+sd*rng.NormFloat64()
		}
	}
	return r, switches
}

// TestSwitching: switching objects are detected, with their rates and number of switches, also in the table of objects. The result does not depend
// on the number of cores.
func TestSwitching(t *testing.T) {
	suite.Calculation(t)
	const rate = 1.0
	table, switches := switchers(rate)
	path := table.file(t)
	var tables [2][]byte
	var f Findings
	for i := range tables {
		was := runtime.GOMAXPROCS(i + 1)
		out, over := filepath.Join(t.TempDir(), "objects.csv"), filepath.Join(t.TempDir(), "over.csv")
		f = printed(t, Command{Tracks: path, FPS: 1 / dt, Objects: out, Over: over})
		if lines, err := os.ReadFile(over); err != nil || bytes.Count(lines, []byte("\n")) != 1+60*149 || !bytes.HasPrefix(lines, []byte("particle,frame,state_1,state_2\n")) {
			t.Errorf("states over time: %d bytes, %v", len(lines), err)
		}
		runtime.GOMAXPROCS(was)
		var err error
		if tables[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(tables[0], tables[1]) {
		t.Error("the table of objects differs between one core and two")
	}
	s := f.Switching
	if s == nil || !s.Told || s.Nats < 50 || f.Kind != "switching" || !strings.Contains(f.Says, "objects switch between them:") {
		t.Fatalf("found %+v, %q", s, f.Says)
	}
	if len(f.States) != 2 || math.Abs(math.Log(f.States[0].D/0.5)) > 0.3 || math.Abs(math.Log(f.States[1].D/10)) > 0.1 {
		t.Errorf("states %+v, expected D of 0.5 and 10", f.States)
	}
	if s.Rates[0][1] < 0.6*rate || s.Rates[0][1] > 1.5*rate || s.Rates[1][0] < 0.6*rate || s.Rates[1][0] > 1.5*rate || s.Rates[0][0] != 0 {
		t.Errorf("rates %.2f, expected %g", s.Rates, rate)
	}
	if n := float64(s.Switches); n < 0.6*float64(switches) || n > 1.2*float64(switches) {
		t.Errorf("%d switches, there are %d", s.Switches, switches)
	}
	read, err := csv.NewReader(bytes.NewReader(tables[0])).ReadAll()
	if err != nil || len(read) != 61 {
		t.Fatalf("%d rows, %v", len(read), err)
	}
	listed, at := 0, func(name string) int { return slices.Index(read[0], name) }
	for _, row := range read[1:] {
		listed += len(strings.Fields(row[at("switches")]))
		sum := 0.0
		for _, name := range []string{"state_1", "state_2"} {
			p, err := strconv.ParseFloat(row[at(name)], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += p
		}
		if row[at("frames")] != "150" || math.Abs(sum-1) > 1e-5 || row[at("class")] == "" || row[at("alpha")] == "" || row[at("diffusion_shrunk_px2_s")] == "" {
			t.Fatalf("found %q under %q", row, read[0])
		}
	}
	if listed != s.Switches {
		t.Errorf("the table lists %d switches of %d", listed, s.Switches)
	}
}

// TestNoSwitching: no switching is reported for objects that keep their state, whether or not they differ within it.
func TestNoSwitching(t *testing.T) {
	suite.Long(t)
	table, _ := switchers(0)
	rng := rand.New(rand.NewPCG(7, 8))
	var spread rows
	film := states.Film{DT: dt, Noise: 0.01}
	for particle := range 200 {
		x, y, d := 50.0, 50.0, math.Exp(0.6*rng.NormFloat64())
		if particle%2 == 0 {
			d *= 30
		}
		for frame, s := range film.Draw(rng, d, 40).Steps {
			spread.add(frame, particle, x, y)
			x, y = x+s.X, y+s.Y
		}
	}
	for name, r := range map[string]*rows{"alike": &table, "spread": &spread} {
		f := printed(t, Command{Tracks: r.file(t), DT: dt})
		if s := f.Switching; len(f.States) < 2 || s != nil {
			t.Errorf("%s: %d states, found %+v", name, len(f.States), s)
		}
	}
}

// TestMotion: most free objects are classified as free, with α = 1. Most objects in a trap are confined, and the map shows only the trap, at its position.
func TestMotion(t *testing.T) {
	suite.Long(t)
	const d, k, x0, y0 = 2.0, 5.0, 130.0, 70.0
	for name, stiff := range map[string]float64{"free": 0, "confined": k} {
		rng := rand.New(rand.NewPCG(9, 10))
		var r rows
		for particle := range 60 {
			x, y := x0+math.Sqrt(d/k)*rng.NormFloat64(), y0+math.Sqrt(d/k)*rng.NormFloat64()
			for frame := range 120 {
				r.add(frame, particle, x, y)
				x += -stiff*(x-x0)*dt + math.Sqrt(2*d*dt)*rng.NormFloat64()
				y += -stiff*(y-y0)*dt + math.Sqrt(2*d*dt)*rng.NormFloat64()
			}
		}
		path := r.file(t)
		f := printed(t, Command{Tracks: path, DT: dt})
		m := f.Motion
		if kind := map[string]string{"free": "free", "confined": "trapped"}[name]; f.Kind != kind || m == nil || m.Tracks != 60 || m.Counts[name] < 36 || m.Means[name] < 0.5 || !(m.Quartiles[0] <= m.Alpha && m.Alpha <= m.Quartiles[1]) {
			t.Fatalf("%s: found %+v", name, m)
		}
		if stiff == 0 && math.Abs(m.Alpha-1) > 0.1 {
			t.Errorf("free: α %.2f", m.Alpha)
		}
		if f.Map == nil || len(f.Map.X) == 0 || f.Outside != 0 {
			t.Fatalf("%s: the map is %+v, and %d steps outside", name, f.Map, f.Outside)
		}
		if stiff == 0 {
			if len(f.Map.Says) > 0 {
				t.Errorf("free: %q", f.Map.Says)
			}
			continue
		}
		var x, y, rate float64
		if len(f.Map.Says) != 1 {
			t.Fatalf("confined: %q", f.Map.Says)
		}
		if _, err := fmt.Sscanf(f.Map.Says[0], "a trap at %f, %f px, stiffness %f", &x, &y, &rate); err != nil || math.Hypot(x-x0, y-y0) > 1.5 || rate < k/2 || rate > 2*k {
			t.Errorf("confined: %q, %v", f.Map.Says, err)
		}
		for i := range f.Map.X {
			if math.Abs(f.Map.X[i]-x0) > 10 || math.Abs(f.Map.D[i]-d) > d/2 {
				t.Errorf("confined: D %g at %g, expected %g", f.Map.D[i], f.Map.X[i], d)
			}
		}
		if small := printed(t, Command{Tracks: path, DT: dt, Width: x0 / 2, Height: y0 / 2}); small.Outside != small.Steps || small.Map != nil {
			t.Errorf("%d of %d steps are outside of a film that ends before them, and the map is %+v", small.Outside, small.Steps, small.Map)
		}
	}
}

// TestPairs: repulsion between objects is detected with its force; objects without a force show none.
func TestPairs(t *testing.T) {
	suite.Long(t)
	const pixel, width = 0.1, 2.5
	push := func(r float64) float64 { return 60 * math.Exp(-r/width) }
	for name, force := range map[string]func(float64) float64{"push": push, "none": nil} {
		film := onlinetest.Pairs{Seed: 3, Objects: 120, Side: 150, D: 5, Noise: 0.1, Frame: dt, Parts: 4, Force: force, Cutoff: 20}
		var r rows
		frame := 0
		film.Run(400, 1, func(s *onlinetest.PairsShot) {
			for i, id := range s.ID {
				r.add(frame, int(id), s.X[i], s.Y[i])
			}
			frame++
		})
		path := r.file(t)
		p := printed(t, Command{Tracks: path, DT: dt, PixelUM: pixel, Interactions: true, TemplatePX: 1.5}).Pairs
		if p == nil || len(p.Distance) == 0 || p.Unused != 0 || (p.Nats > evident) != (force != nil) {
			t.Fatalf("%s: found %+v", name, p)
		}
		if force == nil {
			continue
		}
		held, judged := 0, 0
		for i, at := range p.Distance {
			if p.Count[i] > 200 {
				judged++
				if want := pixel * push(at/pixel); p.Low[i] <= want && want <= p.High[i] {
					held++
				}
			}
		}
		if judged < 8 || float64(held) < 0.7*float64(judged) {
			t.Errorf("%d of %d intervals hold the force: %+v", held, judged, p)
		}
		out, err := suite.Stdout(t, func() error {
			return (&Command{Tracks: path, DT: dt, PixelUM: pixel, Interactions: true, TemplatePX: 1.5}).Run(t.Context())
		})
		if err != nil || !strings.Contains(string(out), "µm/s\n") || !strings.Contains(string(out), "nats of evidence for a force between objects") {
			t.Errorf("found %s, %v", out, err)
		}
	}
}

// TestMoreMistakes: an existing table is not overwritten, and invalid sizes are refused.
func TestMoreMistakes(t *testing.T) {
	path := table(t, "particle", 2, 0)
	there := filepath.Join(t.TempDir(), "objects.csv")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Command{
		"exists already":           {Objects: there},
		"cannot create the file":   {Objects: filepath.Join(there, "below.csv")},
		"--width: found -1":        {Width: -1},
		"--height: found NaN":      {Height: math.NaN()},
		"--template-px: found 0":   {Interactions: true},
		"--template-px: found NaN": {Interactions: true, TemplatePX: math.NaN()},
	} {
		c.Tracks, c.DT = path, 1
		if err := c.Run(t.Context()); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected a usage error with %q", err, want)
		}
	}
	if kept, err := os.ReadFile(there); err != nil || string(kept) != "mine" {
		t.Errorf("the file that was there holds %q, %v", kept, err)
	}
}
