package law

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
	"driftscope/online/states"
)

// table writes tracks with D in px²/s that start at (100, 100) and drift with a stage.
func table(t *testing.T, name string, d, drift float64) string {
	rng := rand.New(rand.NewPCG(1, 2))
	film := states.Film{DT: 0.02, Noise: 0.01}
	var b bytes.Buffer
	fmt.Fprintf(&b, "x,y,frame,%s,marks\n", name)
	for particle := range 60 {
		x, y := 100.0, 100.0
		for frame, s := range film.Draw(rng, d, 30).Steps {
			marks := latent.Mark(0)
			if frame == 10 {
				marks = latent.Predicted // a position that is wrong by 50 px
				x += 50
			}
			fmt.Fprintf(&b, "%g,%g,%d,%d,%d\n", x, y, frame, particle, marks)
			if frame == 10 {
				x -= 50
			}
			x, y = x+s.X+drift*film.DT, y+s.Y
		}
	}
	fmt.Fprintf(&b, "5,5,3,900,0\n")
	path := filepath.Join(t.TempDir(), "tracks.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// printed runs the command and parses its JSON.
func printed(t *testing.T, c Command) (f Findings) {
	t.Helper()
	c.JSON = true
	out, err := suite.Stdout(t, func() error { return c.Run(t.Context()) })
	if err == nil {
		err = json.Unmarshal(out, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCommand: D and the stage's motion of a table, in both units, with either name of the column. Undetected positions do not count.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		column string
		pixel  float64
	}{{"particle", 0}, {"trajectory", 0.1}} {
		const d, drift = 2.0, 20.0
		f := printed(t, Command{Tracks: table(t, c.column, d, drift), DT: 0.02, PixelUM: c.pixel})
		scale := 1.0
		if c.pixel > 0 {
			scale = c.pixel
		}
		if f.Tracks != 60 || f.Undetected != 60 || f.Single != 1 || len(f.States) != 1 || f.States[0].Fraction != 1 {
			t.Errorf("%s: found %+v", c.column, f)
		}
		want := d * scale * scale
		if !(f.D.Interval[0] <= want && want <= f.D.Interval[1]) || f.D.Interval[1]-f.D.Interval[0] > 0.5*want { // 1680 steps at r = 0.25: a standard error of 4 %
			t.Errorf("%s: D %+v, expected %g", c.column, f.D, want)
		}
		if math.Abs(f.Drift.X-drift*scale) > 4*f.Drift.SD || f.Drift.SD > 2*scale {
			t.Errorf("%s: drift %+v, expected %g", c.column, f.Drift, drift*scale)
		}
		share := 0.0
		for _, b := range f.Spectrum {
			share += b.Share
		}
		if math.Abs(share-1) > 1e-9 {
			t.Errorf("%s: the spectrum adds up to %g", c.column, share)
		}
	}
}

// TestLocated: if a table of run has the located positions, D comes from these, not from the smoothed ones. Positions without a detection are left out.
func TestLocated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	b.WriteString("frame,particle,x,y,marks,x_located,y_located\n")
	for particle := range 40 {
		x, y := 100.0, 100.0
		for frame := range 30 {
			located := fmt.Sprintf("%g,%g", x+0.1*rng.NormFloat64(), y+0.1*rng.NormFloat64())
			if frame == 5 {
				located = ","
			}
			fmt.Fprintf(&b, "%d,%d,100,100,0,%s\n", frame, particle, located)
			x, y = x+math.Sqrt(2*2*0.02)*rng.NormFloat64(), y+math.Sqrt(2*2*0.02)*rng.NormFloat64()
		}
	}
	path := filepath.Join(t.TempDir(), "tracks.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f := printed(t, Command{Tracks: path, DT: 0.02})
	if f.Undetected != 40 || !(f.D.Interval[0] < 2 && 2 < f.D.Interval[1]) {
		t.Errorf("%d undetected, D %+v, expected 2", f.Undetected, f.D)
	}
	if err := os.WriteFile(path, []byte("frame,particle,x,y,x_located,y_located\n0,1,1,1,a,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&Command{Tracks: path, DT: 1}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), `line 2: x_located is "a", expected a number`) {
		t.Errorf("found %v", err)
	}
}

// TestCertain: a track is cut at steps whose probability is below --certain or unknown. Otherwise two objects, 40 px apart, that exchange their numbers every
// ten frames make D too large.
func TestCertain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var b bytes.Buffer
	b.WriteString("frame,particle,x,y,p_link\n")
	for pair := range 20 {
		at := [2][2]float64{{100, 100}, {140, 100}}
		for frame := range 60 {
			link := ""
			switch {
			case frame%10 > 0:
				link = "0.99"
			case frame%20 > 0:
				link = "0.5"
			}
			for i := range at {
				fmt.Fprintf(&b, "%d,%d,%g,%g,%s\n", frame, 2*pair+(i+frame/10)%2, at[i][0], at[i][1], link)
				at[i][0], at[i][1] = at[i][0]+math.Sqrt(2*2*0.02)*rng.NormFloat64(), at[i][1]+math.Sqrt(2*2*0.02)*rng.NormFloat64()
			}
		}
	}
	path := filepath.Join(t.TempDir(), "tracks.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := printed(t, Command{Tracks: path, DT: 0.02, Certain: 0.95}); f.Cuts != 40*5 || f.Tracks != 40*6 || !(f.D.Interval[0] < 2 && 2 < f.D.Interval[1]) {
		t.Errorf("%d cuts, %d tracks, D %+v, expected 200, 240 and 2", f.Cuts, f.Tracks, f.D)
	}
	if f := printed(t, Command{Tracks: path, DT: 0.02}); f.Cuts != 0 || f.Tracks != 40 {
		t.Errorf("%d cuts, %d tracks, expected none and 40", f.Cuts, f.Tracks)
	}
	for text, want := range map[string]string{
		"frame,particle,x,y\n0,1,1,1\n":          "--certain: the table has no column p_link",
		"frame,particle,x,y,p_link\n0,1,1,1,2\n": `p_link is "2", expected a probability`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := (&Command{Tracks: path, DT: 1, Certain: 0.95}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	if err := (&Command{Tracks: path, DT: 1, Certain: 2}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "--certain: found 2") {
		t.Errorf("found %v", err)
	}
}

// TestText: the printed text, and the tracks with drift if requested.
func TestText(t *testing.T) {
	suite.Calculation(t)
	path := table(t, "particle", 2, 20)
	out, err := suite.Stdout(t, func() error { return (&Command{Tracks: path, DT: 0.02, States: 2}).Run(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"60 tracks", "1 tracks of one position, which have no step", "60 rows without a detection left out", "mean D", "px²/s", "state 2", "spectrum"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("found no %q in\n%s", want, out)
		}
	}
	if f := printed(t, Command{Tracks: path, DT: 0.02, KeepDrift: true}); f.Drift != (Velocity{}) || f.Kind != "directed" || f.D.Mean > 2.2 {
		t.Errorf("with the drift kept found %+v, D %+v", f.Drift, f.D)
	}
}

// TestMistakes: each error states what to give instead.
func TestMistakes(t *testing.T) {
	good := table(t, "particle", 2, 0)
	bad := filepath.Join(t.TempDir(), "bad.csv")
	for path, text := range map[string]string{bad: "frame,particle,x,y,marks\n0,1,5,5,many\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, c := range map[string]Command{
		"--dt: found 0":                      {Tracks: good},
		"--dt: found +Inf":                   {Tracks: good, DT: math.Inf(1)},
		"--pixel-um: found -1":               {Tracks: good, DT: 1, PixelUM: -1},
		"--exposure: found 2":                {Tracks: good, DT: 1, Exposure: 2},
		"--focal-depth: found NaN":           {Tracks: good, DT: 1, FocalDepth: math.NaN()},
		"give --pixel-um as well":            {Tracks: good, DT: 1, FocalDepth: 1},
		"--states: found 7, expected 0 to 6": {Tracks: good, DT: 1, States: 7},
		"no such file":                       {Tracks: "nowhere.csv", DT: 1},
		"--fps and --dt: give one":           {Tracks: good, DT: 1, FPS: 1},
		"--fps: found -1":                    {Tracks: good, FPS: -1},
		`--columns: found "time"`:            {Tracks: good, DT: 1, Columns: map[string]string{"time": "t"}},
		`expected "t" for frame`:             {Tracks: good, DT: 1, Columns: map[string]string{"frame": "t"}},
		`line 2: marks is "many"`:            {Tracks: bad, DT: 1},
	} {
		if err := c.Run(t.Context()); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected a usage error with %q", err, want)
		}
	}
}

// TestAnyones: a table with other column names, compressed with gzip, is read with --columns. Tracks along a line give the law of one axis, and tracks
// without motion give a sentence instead of numbers.
func TestAnyones(t *testing.T) {
	suite.Calculation(t)
	var b, still bytes.Buffer
	packed := gzip.NewWriter(&b)
	fmt.Fprintln(packed, "t,frame,traj_idx,x,y")
	fmt.Fprintln(&still, "frame,particle,x,y")
	rng := rand.New(rand.NewPCG(6, 7))
	for particle := range 40 {
		x := 100.0
		for frame := range 30 {
			fmt.Fprintf(packed, "%d,0,%d,%g,7\n", frame, particle, x)
			fmt.Fprintf(&still, "%d,%d,5,5\n", frame, particle)
			x += math.Sqrt(2*2*0.02) * rng.NormFloat64()
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	path, rest := filepath.Join(t.TempDir(), "tracks.csv.gz"), filepath.Join(t.TempDir(), "still.csv")
	for path, text := range map[string][]byte{path: b.Bytes(), rest: still.Bytes()} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := printed(t, Command{Tracks: path, FPS: 50, Columns: map[string]string{"frame": "t", "particle": "traj_idx"}})
	if f.Kind != "free" || !strings.Contains(strings.Join(f.Remarks, " "), "along y") || f.D.Mean < 1.7 || f.D.Mean > 2.3 || (f.Map != nil && len(f.Map.Says) > 0) {
		t.Errorf("along a line: %+v", f)
	}
	if f := printed(t, Command{Tracks: rest, DT: 1}); f.Says != "Nothing moves along x or y: there is no law to find." || len(f.States) != 0 {
		t.Errorf("at rest: %+v", f)
	}
}

// TestSome: from too many tracks an even selection is used.
func TestSome(t *testing.T) {
	all := make([]states.Segment, 10)
	for i := range all {
		all[i].Weight = float64(i)
	}
	if got := some(all, 3); len(got) != 3 || got[0].Weight != 0 || got[1].Weight != 3 || got[2].Weight != 6 {
		t.Errorf("found %+v", got)
	}
	if got := some(all, 10); len(got) != 10 {
		t.Errorf("found %d of 10", len(got))
	}
}

// TestNuclei: single molecules in nuclei, compared with the spectrum from saspt (SOURCE.txt of the recording): shares of four ranges of D agree to 0.05.
func TestNuclei(t *testing.T) {
	suite.Long(t)
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	for region, want := range [][4]float64{{0.255, 0.072, 0.316, 0.357}, {0.170, 0.062, 0.457, 0.311}, {0.065, 0.077, 0.596, 0.262}} {
		f := printed(t, Command{Tracks: filepath.Join(data, "saspt-u2os", fmt.Sprintf("region_%d.csv", region)), DT: 0.00748, PixelUM: 0.16, FocalDepth: 0.7, States: 1})
		var got [4]float64
		for _, b := range f.Spectrum {
			k := 0
			for _, edge := range []float64{0.5, 3, 15} {
				if b.D >= edge {
					k++
				}
			}
			got[k] += b.Share
		}
		for k := range got {
			if math.Abs(got[k]-want[k]) > 0.05 {
				t.Errorf("region %d: shares %.3f, saspt has %.3f", region, got, want)
				break
			}
		}
	}
}
