package learning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/sim"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// asked is a command for one scene, one nuisance and one length, by defaults else.
func asked() *Command {
	return &Command{Scene: []string{"wasserstein-ou"}, Nuisance: []string{"lines"}, Amount: []float64{1}, Frames: []string{"40"}, Seed: 1}
}

// A scene with a nuisance on it is filmed, trained on for a few steps and judged.
func TestMeasure(t *testing.T) {
	suite.Long(t)
	c := asked()
	c.Steps = 6
	cells, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	k := cells[1]
	if err := c.measure(t.Context(), k, filepath.Join(t.TempDir(), k.file())); err != nil {
		t.Fatal(err)
	}
	// The path has a variance of 0.044 over these frames: latents that carry nothing are as far off.
	if k.Verdict != good || k.Reason != "" || k.R2 != nil || k.LLatentCoord == nil || !(*k.LLatentCoord > 0 && *k.LLatentCoord < 0.005) || !(k.Seconds > 0) {
		t.Errorf("%s: %s", k, k.outcome())
	}
}

// A nuisance changes the pictures and leaves the truth.
func TestShoot(t *testing.T) {
	c := asked()
	cells, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	var pictures [2][]sim.Picture
	var truths [2][]float64
	for i, k := range cells {
		s, err := c.shoot(t.Context(), k)
		if err != nil || s.latent != "1" || s.frames != 40 || s.train != "" || s.judged.Align != "isometry" {
			t.Fatalf("%+v, %v", s, err)
		}
		for range 2 {
			var p sim.Picture
			truth, err := s.film.Next(&p)
			if err != nil {
				t.Fatal(err)
			}
			pictures[i], truths[i] = append(pictures[i], p), append(truths[i], truth.Z...)
		}
	}
	if !slices.Equal(truths[0], truths[1]) {
		t.Errorf("the truth is %v, with lines %v", truths[0], truths[1])
	}
	if slices.Equal(pictures[0][1].F32, pictures[1][1].F32) {
		t.Error("frame 1 is the same without lines and with them")
	}
}

// A film that shows nothing that moves is refused, and the user is told; one that the trainer cannot read ends no bench.
func TestRefused(t *testing.T) {
	c := asked()
	c.Nuisance, c.Amount = []string{"saturate"}, []float64{1e6}
	cells, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	k := cells[1]
	if err := c.measure(t.Context(), k, filepath.Join(t.TempDir(), k.file())); err != nil {
		t.Fatal(err)
	}
	if k.Verdict != bad || k.Reason == "" || strings.Contains(k.Reason, os.TempDir()) || k.LLatentCoord != nil {
		t.Errorf("found %+v, expected a refusal with a reason that names no folder", k)
	}
}

func figure(v float64) *float64 { return &v }

// Clean films are measured before all others; a cell that fails holds nobody up; the shares are of those that can be judged.
func TestFindings(t *testing.T) {
	of := map[string]cell{
		"balls-ou-clean-0-80":  {LLatentCoord: figure(0.01), Verdict: good},
		"balls-ou-hot-1-80":    {LLatentCoord: figure(0.02), Verdict: good},
		"balls-ou-hot-2-80":    {LLatentCoord: figure(0.03), Verdict: good},
		"balls-ou-jpeg-1-80":   {Verdict: bad, Reason: "no motion"},
		"balls-ou-lines-1-80":  {Verdict: good, Reason: "3 latents of 2"},
		"balls-ou-lines-2-80":  {LLatentCoord: figure(0.05), Verdict: bad},
		"trapped-clean-0-80":   {R2: figure(0.995), Verdict: good},
		"trapped-uneven-1-80":  {R2: figure(0.98), Verdict: good},
		"trapped-uneven-2-80":  {R2: figure(0.97), Verdict: good},
		"dna-0-uneven-1-80":    {LLatentCoord: figure(1), Verdict: good}, // whose clean film fails
		"molecule-clean-0-80":  {Verdict: bad, Reason: "no motion"},
		"molecule-step-0.5-80": {LLatentCoord: figure(1), Verdict: good},
	}
	var cells []*cell
	for _, k := range []cell{
		{Scene: "balls-ou", Nuisance: "hot", Times: 1}, {Scene: "balls-ou", Nuisance: "hot", Times: 2}, {Scene: "balls-ou", Nuisance: "jpeg", Times: 1},
		{Scene: "balls-ou", Nuisance: "lines", Times: 1}, {Scene: "balls-ou", Nuisance: "lines", Times: 2}, {Scene: "balls-ou", Nuisance: clean},
		{Scene: trapped, Nuisance: clean}, {Scene: trapped, Nuisance: "uneven", Times: 1}, {Scene: trapped, Nuisance: "uneven", Times: 2},
		{Scene: "dna-0", Nuisance: clean}, {Scene: "dna-0", Nuisance: "uneven", Times: 1},
		{Scene: "molecule", Nuisance: clean}, {Scene: "molecule", Nuisance: "step", Times: 0.5},
	} {
		k.Frames = 80
		cells = append(cells, &k)
	}
	err := measureAll(t.Context(), cells, func(_ context.Context, k *cell) error {
		answer, there := of[k.file()]
		if !there {
			return errors.New("disk full")
		}
		k.LLatentCoord, k.R2, k.Verdict, k.Reason = answer.LLatentCoord, answer.R2, answer.Verdict, answer.Reason
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f := newFindings(1, cells)
	// judged: hot twice, jpeg, lines twice as strong, uneven twice
	if f.Judged != 6 || f.Within != 2 || f.Silent != 2 || f.Told != 2 || len(f.Cells) != 9 || len(f.Cleans) != 3 {
		t.Errorf("judged %d, within %d, silently wrong %d, told %d of %d, %d clean", f.Judged, f.Within, f.Silent, f.Told, len(f.Cells), len(f.Cleans))
	}
	if want := []string{"dna-0, clean, 80 frames: disk full"}; !slices.Equal(f.Failed, want) {
		t.Errorf("failed: %q, expected %q", f.Failed, want)
	}
	var text bytes.Buffer
	f.print(&text)
	lines := strings.SplitN(text.String(), "\n", 3)
	if lines[0] != "Within 2 times of the clean film's L_latent, or of an R² of 0.98: 2 of 6 (33 %)." ||
		lines[1] != "Silently wrong, beyond that with a good verdict: 2 of 6 (33 %). Reported as doubtful, bad or refused: 2 of 6 (33 %). Not judged, because they or their clean films have no figure: 3." {
		t.Errorf("it begins\n%s\n%s", lines[0], lines[1])
	}
	for _, want := range []string{"| balls-ou | 80 | jpeg |  |  | 0.01 |  | bad: no motion | 0 |", "| balls-ou | 80 | hot |  | 0.03 | 0.01 | 3 | good | 0 |", "| trapped | 80 | uneven |  | 0.97 | 0.995 |  | good | 0 |"} {
		if !strings.Contains(lines[2], want) {
			t.Errorf("no row %s in\n%s", want, lines[2])
		}
	}
	data, err := json.Marshal(f)
	if err != nil || !bytes.Contains(data, []byte(`"nuisance":"jpeg","times":1,"amount":0,"frames":80,"seed":0,"l_latent_coord":null,"r2":null,"clean":0.01,"ratio":null,"held":null,"verdict":"bad","reason":"no motion"`)) {
		t.Errorf("%v: %s", err, data)
	}
}

// An interrupt ends all cells and leaves what was found.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := asked()
	c.Amount = []float64{1, 2, 3, 4}
	cells, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	err = measureAll(ctx, cells, func(ctx context.Context, k *cell) error {
		if k.Nuisance != clean {
			stop()
			<-ctx.Done()
			return ctx.Err()
		}
		k.LLatentCoord, k.Verdict = figure(1), good
		return nil
	})
	if err == nil || err.Error() != "interrupted: 1 of 5 films are measured" {
		t.Errorf("found %v", err)
	}
	if f := newFindings(1, cells); len(f.Cleans) != 1 || len(f.Cells)+len(f.Failed) != 0 {
		t.Errorf("left: %+v", f)
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		change func(*Command)
		want   string // the cells' files, or what is wrong
	}{
		{func(*Command) {}, "wasserstein-ou-clean-0-40 wasserstein-ou-lines-1-40"},
		{func(c *Command) { c.Frames, c.Nuisance = []string{"short", "long"}, nil }, "wasserstein-ou-clean-0-80 wasserstein-ou-clean-0-1000"},
		{func(c *Command) { c.Scene, c.Data, c.Frames = []string{trapped}, "DIR", []string{"long", "short"} }, "trapped-clean-0-80 trapped-lines-1-80"},
		{func(c *Command) { c.Scene = []string{trapped} }, "nothing is left to measure"},
		{func(c *Command) { c.Scene = []string{"sun"} }, `--scene: found "sun"`},
		{func(c *Command) { c.Nuisance = []string{"rain"} }, "--nuisance: "},
		{func(c *Command) { c.Amount = []float64{-1} }, "--amount: found -1"},
		{func(c *Command) { c.Nuisance, c.Amount = []string{"jpeg"}, []float64{50} }, "--amount: found 50"},
		{func(c *Command) { c.Amount = []float64{math.NaN()} }, "--amount: found NaN"},
		{func(c *Command) { c.Frames = []string{"1"} }, `--frames: found "1"`},
		{func(c *Command) { c.Latent = "two" }, `--latent: found "two"`},
	} {
		command := asked()
		c.change(command)
		cells, err := command.plan()
		var names []string
		for _, k := range cells {
			names = append(names, k.file())
		}
		if got := strings.Join(names, " "); err == nil && got != c.want || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("found %q, %v; expected %q", got, err, c.want)
		}
		if err != nil && console.Status(command.Run(t.Context())) != 2 {
			t.Errorf("%v: no mistake of the user's", err)
		}
	}
}

// The bead's film is the recording, and its truth the centroid that others have found: sd 0.75 and 0.88 px, each to a tenth (SOURCE.txt).
func TestBead(t *testing.T) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	s, err := (&Command{Data: data}).bead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.frames != 100 || s.train != "0:80" || s.judged.FitFrames != "0:80" || s.judged.Frames != "80:100" {
		t.Errorf("found %+v", s)
	}
	var p sim.Picture
	var sum, square [2]float64
	for {
		truth, err := s.film.Next(&p)
		if err == io.EOF {
			break
		}
		if err != nil || p.Width != 120 || p.Height != 120 || len(p.F32) != 120*120*3 || slices.Max(p.F32) > 1 {
			t.Fatalf("%v, %dx%d", err, p.Width, p.Height)
		}
		for i, v := range truth.Z {
			sum[i], square[i] = sum[i]+v/100, square[i]+v*v/100
		}
	}
	for i, want := range []float64{0.75, 0.88} {
		if sd := math.Sqrt(square[i] - sum[i]*sum[i]); math.Abs(sd-want) > 0.1*want {
			t.Errorf("axis %d: the bead's places have an sd of %.3f px, expected %.2f", i, sd, want)
		}
	}
}
