package paper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae"
	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

func TestPaperRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range paperRows {
		if seen[r.scene] {
			t.Errorf("%s is there twice", r.scene)
		}
		seen[r.scene] = true
		if r.clean != "" && !seen[r.clean] {
			t.Errorf("%s: its clean scene %s is no row before it", r.scene, r.clean)
		}
		if r.affine != strings.HasPrefix(r.scene, "dna-") {
			t.Errorf("%s: affine is %t, the paper aligns its films of DNA so, and nothing else", r.scene, r.affine)
		}
		if r.crop != map[bool]string{true: "film"}[r.affine] { // an empty crop is omitted from findings, in all builds
			t.Errorf("%s: crop is %q, the paper's films of DNA are seen one by one, and nothing else", r.scene, r.crop)
		}
		if !slices.Contains(sim.Names(), r.scene) {
			continue
		}
		scene, err := sim.New(r.scene, sim.Options{Frames: 2, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if scene.Dim() != r.latent {
			t.Errorf("%s: %d latents, the scene has %d coordinates", r.scene, r.latent, scene.Dim())
		}
		p := r.paper
		if p.crlb > 0 && math.Abs(p.crlb-0.1*float64(r.latent)) > 1e-9 {
			t.Errorf("%s: the bound is %g, of %d coordinates over 10 s it is %g", r.scene, p.crlb, r.latent, 0.1*float64(r.latent))
		}
	}
	if len(paperRows) != 22 {
		t.Errorf("%d rows, the paper has 22", len(paperRows))
	}
}

// TestPaperRun makes one short experiment, and then only the missing parts of existing results.
func TestPaperRun(t *testing.T) {
	suite.Long(t)
	c := &Options{Out: t.TempDir(), Runs: 1, Steps: 12}
	row := paperRow{scene: "wasserstein-ou", latent: 1, frames: 60, clahe: "off"}
	path := filepath.Join(c.Out, "wasserstein-ou-1")
	var model os.FileInfo
	var first *finding
	for _, there := range []struct {
		what    string
		prepare func() error
		whole   bool
	}{
		{"nothing", func() error { return nil }, false},
		{"everything", func() error { return nil }, true},
		{"a finding of an earlier build", func() error {
			older := *first
			older.GP = nil
			return errors.Join(writeJSON(path+".json", older), os.Remove(path+trainedEnding))
		}, false},
		{"a model", func() error {
			return errors.Join(os.Remove(path+".json"), writeJSON(path+trainedEnding, trained{first.Settings, first.Origin, 1e6}))
		}, false},
	} {
		if err := there.prepare(); err != nil {
			t.Fatal(err)
		}
		e, err := c.experiment(row, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.recall(); err != nil || e.whole() != there.whole {
			t.Fatalf("%s: %v, whole is %t", there.what, err, e.whole())
		}
		if failed, err := makeAll(t.Context(), []task{e}, here); err != nil || len(failed) > 0 {
			t.Fatal(there.what, err, failed)
		}
		now, err := os.Stat(path + ".onnx")
		if err != nil || model != nil && !now.ModTime().Equal(model.ModTime()) {
			t.Errorf("%s: the model was made again: %v", there.what, err)
		}
		// A latent without information has an R² of about 0.
		if f := e.found; f.Figures.N != 60 || f.Figures.R2[0] < 0.8 || !(*f.Figures.LMu >= 0) || !(f.Oracle.LMu > 0) || f.GP == nil || f.Settings != e.settings {
			t.Errorf("%s: found %+v", there.what, f)
		}
		if model, first = now, cmp.Or(first, e.found); !reflect.DeepEqual(first.Figures, e.found.Figures) || *first.GP != *e.found.GP {
			t.Errorf("%s: other figures: %+v, at first %+v", there.what, e.found, first)
		}
		if there.what == "a model" && e.found.Seconds < 1e6 {
			t.Errorf("it took %g s, with the training expected 1e6 and some", e.found.Seconds)
		}
		var left finding
		text := suite.Content(t, c.Out, "wasserstein-ou-1.json")
		if err := json.Unmarshal(text, &left); err != nil || !reflect.DeepEqual(&left, e.found) || strings.Contains(string(text), "crop") {
			t.Errorf("%s: %v: the file has %s, expected %+v and no crop", there.what, err, text, e.found)
		}
		if there.what == "nothing" {
			judgedAnew(t, e)
		}
	}
	entries, err := os.ReadDir(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"wasserstein-ou-1.html", "wasserstein-ou-1.json", "wasserstein-ou-1.onnx", "wasserstein-ou-1.trained.json",
		"wasserstein-ou-drift.svg", "wasserstein-ou-frames.png", "wasserstein-ou-path.svg"}
	if !slices.Equal(names, want) {
		t.Errorf("the folder has %q, expected %q", names, want)
	}
}

// here makes a task in the test's process.
func here(ctx context.Context, t task) error { return t.perform(ctx) }

// judgedAnew judges the experiment again under an affine map. It measures reconstruction as for rows with noise, against the same film before rounding to 8
// bits.
func judgedAnew(t *testing.T, e *experiment) {
	t.Helper()
	frames := filepath.Join(t.TempDir(), "film")
	scene, err := e.scene()
	if err != nil {
		t.Fatal(err)
	}
	if err := scene.Record(t.Context(), frames); err != nil {
		t.Fatal(err)
	}
	m, err := e.measure(t.Context(), frames)
	if err != nil {
		t.Fatal(err)
	}
	m.experiment.row.affine, m.experiment.settings.Align = true, "affine"
	if err := m.judge(t.Context()); err != nil || m.finding.Figures.N != e.Frames/2 {
		t.Errorf("affinely: %v, found %+v, expected the second half to be judged", err, m.finding.Figures)
	}
	m.experiment.row.clean = e.Row
	for i, s := range m.model.Card.Preprocess {
		if s.Kind == "normalise" {
			m.model.Card.Preprocess[i].Options["window"] = []any{0, 1} // the pictures' range before rounding
		}
	}
	rounded := slices.Clone(m.seen.Reconstruction)
	if err := m.denoised(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range rounded {
		if got := m.seen.Reconstruction[i]; math.Abs(got-want) > 2*math.Sqrt(want)/255 { // twice the error of one grey level in every pixel
			t.Errorf("frame %d: %g, expected %g", i, got, want)
		}
	}
}

// TestPaperSmooths: for latents with noise of three times the motion per frame, smoothing over the whole film at least halves the error (to a third if the law
// is known). The table compares this with the row without noise.
func TestPaperSmooths(t *testing.T) {
	suite.Long(t)
	rng := rand.New(rand.NewPCG(3, 0))
	const n, dt = 1000, 0.01
	seen, truth := &evaluation.Encoded{Z: mat.NewDense(n, 1, nil)}, &evaluation.Truth{Z: mat.NewDense(n, 1, nil)}
	at := 0.0
	for i := range n {
		at += 0.1 * rng.NormFloat64()
		truth.Z.Set(i, 0, at)
		seen.Z.Set(i, 0, 5-at+math.Sqrt(3*dt)*rng.NormFloat64())
		seen.Seq, seen.Times, seen.Trajectory = append(seen.Seq, uint64(i)), append(seen.Times, dt*float64(i)), append(seen.Trajectory, 0)
	}
	all := seen.Rows(recording.Whole)
	e := &evaluation.Evaluation{Align: "isometry"}
	if err := e.Smooth(seen, truth, evaluation.Split{Fitted: all, Judged: all}); err != nil {
		t.Fatal(err)
	}
	if *e.SmoothedCoord > 1.5*dt || *e.SmoothedCoord < 0.5*dt {
		t.Errorf("the smoothed latents are %.4f off, expected about %.4f", *e.SmoothedCoord, 0.83*dt)
	}
	table := &table{Rows: []tableRow{{Row: "clean", figures: figures{LLatentCoord: 0.01, LMuCoord: 1}},
		{Row: "noisy", Clean: "clean", Runs: 1, figures: figures{LLatentCoord: 0.04, LMuCoord: 2, SmoothedCoord: 0.02}}}}
	want := "noisy: L_latent a coordinate is 0.02 if the whole film is smoothed by its law; without noise (clean), frame by frame, L_latent is 0.25× and L_mu 0.5× as large."
	if got := table.noisy(&table.Rows[1]); got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// madeUp returns complete runs of one row with given figures.
func madeUp(t *testing.T, c *Options, name string, latent float64, mu ...float64) plan {
	t.Helper()
	rows, err := chooseRows([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	var p plan
	for i, sum := range mu {
		e, err := c.experiment(rows[0], i+1)
		if err != nil {
			t.Fatal(err)
		}
		coord, seen, recon := sum/2, sum+0.25, 0.003
		e.found = &finding{Settings: e.settings, Figures: &evaluation.Evaluation{LLatent: 2 * latent, LLatentCoord: latent, LMu: &sum, LMuCoord: &coord, LMuSeen: &seen, CRLB: 0.2, ReconMSE: &recon},
			Oracle: drifting{0.25, 0.125}, GP: &drifting{0.5 + 0.25*float64(i), 0.25 + 0.125*float64(i)}, allows: &oneFrame{Coord: 1e-5 * float64(i+1), Share: 1}}
		p = append(p, e)
	}
	return p
}

func TestPaperTable(t *testing.T) {
	c := &Options{Out: t.TempDir()}
	p := append(madeUp(t, c, "balls-ou", 0.0016, 0.5, 1.5), madeUp(t, c, "balls-circle", 0.093, 3)...)
	p[0].found.Settings.Recipe = 50 // trained with an earlier recipe
	table := newTable(p, []string{"digits-ou, run 2: disk full"})
	got := strings.Split(string(table.markdown()), "\n")
	want := []string{
		"| row | runs | recipe | L_latent a coordinate | L_latent | paper | one frame allows | times that | its unit leaves | times both | L_mu a coordinate | L_mu | at the latents | oracle's L_mu | CRLB | paper | paper's CRLB | GP's L_mu | p | paper's GP | paper's p | reconstruction | paper |",
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
		fmt.Sprintf("| balls-ou | 2 | 50 %d", sdevae.Recipe) + " | 0.0016 ± 0 | 0.0032 ± 0 | 0.0141 ± 0.012 | 1.5e-05 ± 7.1e-06 | – | – | 80 to 160 | 0.5 ± 0.354 | 1 ± 0.707 ▲ 1.09× | 1.25 ± 0.707 | 0.25 ± 0 | 0.2 | 0.92 ± 0.223 | 0.2 | 0.625 ± 0.177 | 0.543 | 0.217 ± 0.01 | 0.000108 | 0.003 ± 0 | 0.00323 ± 0.012 |",
		fmt.Sprintf("| balls-circle | 1 | %d", sdevae.Recipe) + " | 0.093 ▲ 2× | 0.186 | 0.0465 ± 0.0256 | 1.0e-05 | – | – | 9.3e+03 | 1.5 ▲ 1.02× | 3 ▲ 2.04× | 3.25 | 0.25 | 0.2 | 1.47 ± 0.62 | 0.2 | 0.5 | – | 4.43 ± 0.74 | 0.00013 | 0.003 | 0.0051 ± 0.00355 |",
		"",
	}
	if !slices.Equal(got[:len(want)], want) {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got[:len(want)], "\n"), strings.Join(want, "\n"))
	}
	if !strings.Contains(strings.Join(got, "\n"), "Failed: digits-ou, run 2: disk full.") || !strings.Contains(strings.Join(got, "\n"), table.Origin.Command) || !strings.Contains(strings.Join(got, "\n"), "Recipes differ") {
		t.Errorf("the notes lack the command, what failed, or that recipes differ:\n%s", strings.Join(got, "\n"))
	}
	if err := os.WriteFile(filepath.Join(c.Out, "balls-ou"+pathPicture), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := table.page(c.Out)
	if err != nil || !strings.Contains(string(page), "<td>0.0016 ± 0</td>") || strings.Count(string(page), "<img ") != 1 || !strings.Contains(string(page), `src="balls-ou-path.svg"`) {
		t.Errorf("%v\n%s", err, page)
	}
}

// Figures that equal the paper's up to its last digit are not shortfalls.
func TestPaperShortfalls(t *testing.T) {
	r := tableRow{figures: figures{LLatentCoord: 0.1, LMuCoord: math.NaN(), LMu: 0.2}, Paper: quoted{LLatent: 0.1, LMu: 0.2}}
	if got := r.shortfalls(); len(got) != 1 || got[0].Figure != "l_mu_coord" {
		t.Errorf("found %+v, expected what is not a number alone", got)
	}
	r.Apart = filmed
	if got := r.shortfalls(); len(got) != 0 {
		t.Errorf("found %+v where the paper measured something else", got)
	}
}

// refuses requires a usage error.
func refuses(t *testing.T, c *Options, want string) {
	t.Helper()
	if err := c.Run(t.Context()); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), want) {
		t.Errorf("found %v, a usage error with %q expected", err, want)
	}
}

func TestPaperCommand(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	c := &Options{Out: folder}
	for _, e := range madeUp(t, c, "balls-ou", 0.0016, 0.5, 1.5) {
		data, err := json.Marshal(e.found)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(e.path+".json", data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := suite.Stdout(t, func() error {
		return (&Options{Rows: []string{"balls-ou"}, Runs: 2, Out: folder, JSON: true, Seeds: 1}).Run(t.Context())
	})
	var got struct {
		Rows []map[string]any `json:"rows"`
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Rows) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	row := got.Rows[0]
	for _, key := range []string{"row", "runs", "l_latent", "l_latent_coord", "l_mu", "l_mu_coord", "crlb", "recon_mse", "sd", "paper", "oracle", "gp"} {
		if row[key] == nil {
			t.Errorf("no %s in %s", key, out)
		}
	}
	if row["runs"] != 2.0 || row["l_mu"] != 1.0 || row["paper"].(map[string]any)["l_mu"] != 0.92 || row["oracle"].(map[string]any)["l_mu"] != 0.25 {
		t.Errorf("found %v", row)
	}
	for _, name := range []string{"table.md", "table.html"} {
		if !strings.Contains(string(suite.Content(t, folder, name)), "balls-ou") {
			t.Errorf("%s has no row balls-ou", name)
		}
	}

	if gp := row["gp"].(map[string]any); gp["l_mu"] != 0.625 || !(gp["p"].(float64) > 0.5) || row["paper"].(map[string]any)["gp"].(map[string]any)["l_mu"] != 0.217 {
		t.Errorf("found %v", row)
	}

	refuses(t, &Options{Rows: []string{"balls-ou"}, Runs: 2, Steps: 7, Out: folder, Seeds: 1}, "it was made with steps 300, this command has 7: give the same (pictures: --assets) or another --out")
	refuses(t, &Options{Rows: []string{"balls-ou", "flying"}, Runs: 5, Seeds: 1, Out: folder}, `the paper has no row "flying": give all, or some of balls-constant, balls-ou`)
	refuses(t, &Options{Runs: 0, Seeds: 1, Out: folder}, "--runs: found 0, expected 1 to 1000")
	refuses(t, &Options{Steps: -1, Runs: 5, Seeds: 1, Out: folder}, "--steps: found -1")
	if err := os.WriteFile(filepath.Join(folder, "balls-circle-1.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, &Options{Rows: []string{"balls-circle"}, Out: folder, Runs: 5, Seeds: 1}, "balls-circle-1.json: it was made with")
	if err := os.WriteFile(filepath.Join(folder, "digits-ou-1.trained.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, &Options{Rows: []string{"digits-ou"}, Out: folder, Runs: 5, Seeds: 1}, "digits-ou-1.trained.json: it was made with")
}
