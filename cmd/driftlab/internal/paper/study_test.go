package paper

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae"
	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/suite"
)

func TestPaperStudies(t *testing.T) {
	for _, s := range paperStudies {
		if _, err := chooseRows(s.rows); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		for _, row := range s.rows {
			// Trajectories are whole films, so the judged half begins with a new film.
			if scene, err := sim.New(row, sim.Options{Frames: 2, Seed: 1}); err != nil || scene.Dim() != 2 {
				t.Errorf("%s: %v: of films of DNA two coordinates are known", row, err)
			}
		}
		if !slices.IsSorted(s.latents) {
			t.Errorf("%s: %v are not in order, as the picture draws them", s.name, s.latents)
		}
	}
}

// TestPaperStudyRun makes one short run, which is judged on the half of the film without training, and then reads its results again.
func TestPaperStudyRun(t *testing.T) {
	suite.Long(t)
	c := &Options{Out: t.TempDir(), Steps: 12}
	row := paperRow{scene: "wasserstein-ou", latent: 1, frames: 60, clahe: "off"}
	r, err := c.studyRun(sizesStudy, row, 4, 1)
	if err != nil || r.answer != nil {
		t.Fatal(err, r.answer)
	}
	if failed, err := makeAll(t.Context(), []task{r}, here); err != nil || len(failed) > 0 {
		t.Fatal(err, failed)
	}
	f := r.answer.Figures
	if f.N != 60 || len(f.Axes) != 4 || f.True+f.False > 4 || f.True < 0 || f.False < 0 || !(f.ReconMSE > 0 && f.MeanMSE > 0) {
		t.Errorf("found %+v", f)
	}
	if !slices.IsSortedFunc(f.Axes, func(a, b axis) int { return int(math.Copysign(1, b.Sigma-a.Sigma)) }) || !(f.Axes[0].Sigma > 0) {
		t.Errorf("the diagonal is not sorted: %+v", f.Axes)
	}
	if _, err := os.Stat(r.experiment.frames()); !os.IsNotExist(err) {
		t.Errorf("the film is still there: %v", err)
	}

	again, err := c.studyRun(sizesStudy, row, 4, 1)
	if err != nil || again.answer == nil || again.answer.Settings != r.answer.Settings || again.answer.Figures.ReconMSE != f.ReconMSE {
		t.Errorf("%v: recalled %+v, expected %+v", err, again.answer, r.answer)
	}
	c.Steps = 13
	if _, err := c.studyRun(sizesStudy, row, 4, 1); err == nil || !strings.Contains(err.Error(), "sizes-wasserstein-ou-4-1.json: it was made with") {
		t.Errorf("other settings: %v", err)
	}
	c.Steps = 12
	if err := writeJSON(r.experiment.path+".json", answer{Settings: r.experiment.settings}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.studyRun(sizesStudy, row, 4, 1); err == nil || !strings.Contains(err.Error(), "figures are missing") {
		t.Errorf("no figures: %v", err)
	}

	// The model is complete but its figures are missing, so it is judged without training.
	if err := os.Remove(r.experiment.path + ".json"); err != nil {
		t.Fatal(err)
	}
	left, err := c.studyRun(sizesStudy, row, 4, 1)
	if err != nil || left.answer != nil {
		t.Fatal(err, left.answer)
	}
	before, err := os.Stat(r.experiment.path + ".onnx")
	if err != nil {
		t.Fatal(err)
	}
	if failed, err := makeAll(t.Context(), []task{left}, here); err != nil || len(failed) > 0 {
		t.Fatal(err, failed)
	}
	if now, err := os.Stat(r.experiment.path + ".onnx"); err != nil || !now.ModTime().Equal(before.ModTime()) || left.answer.Figures.ReconMSE != f.ReconMSE || !slices.Equal(left.answer.Figures.Axes, f.Axes) {
		t.Errorf("%v: found %+v, expected the same model's %+v", err, left.answer.Figures, f)
	}

	judgedApart(t, r)
}

// judgedApart judges the model again with a black training half. Nothing may change.
func judgedApart(t *testing.T, r *studyRun) {
	t.Helper()
	if err := r.experiment.record(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := r.experiment.see(t.Context(), r.experiment.frames())
	if err != nil {
		t.Fatal(err)
	}
	if trained := m.model.Card.Training.Frames; trained != "0:60" {
		t.Errorf("trained on frames %s", trained)
	}
	for i := range 60 {
		m.seen.Reconstruction[i] = math.NaN()
		m.seen.Z.SetRow(i, slices.Repeat([]float64{math.NaN()}, 4))
		m.truth.Z.SetRow(i, []float64{math.NaN()})
	}
	again, err := m.withhold(t.Context(), 60)
	if err != nil || again.ReconMSE != r.answer.Figures.ReconMSE || again.MeanMSE != r.answer.Figures.MeanMSE || !slices.Equal(again.Axes, r.answer.Figures.Axes) {
		t.Errorf("%v: found %+v, expected %+v", err, again, r.answer.Figures)
	}
	// Variance of the frames' pixels, in [0, 1], about their mean.
	var frames [][]float32
	if err := m.each(t.Context(), m.film, func(_ int, pixels []float32) { frames = append(frames, pixels) }); err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for k := range frames[0] {
		values := make([]float64, 0, 60)
		for _, f := range frames[60:] {
			values = append(values, float64(f[k]))
		}
		want += variance(values) / float64(len(frames[0]))
	}
	if math.Abs(again.MeanMSE-want) > 1e-9 {
		t.Errorf("the mean picture errs by %g, expected %g", again.MeanMSE, want)
	}
}

func variance(v []float64) float64 {
	mean, square := evaluation.Sum(v)/float64(len(v)), 0.0
	for _, x := range v {
		square += (x - mean) * (x - mean) / float64(len(v))
	}
	return square
}

func TestWithinFilms(t *testing.T) {
	got := withinFilms(mat.NewDense(5, 2, []float64{1, 10, 3, 30, 5, 5, 6, 7, 7, 9}), []uint64{4, 4, 0, 0, 0, 8})
	if want := mat.NewDense(5, 2, []float64{-1, -10, 1, 10, -1, -2, 0, 0, 1, 2}); !mat.Equal(got, want) {
		t.Errorf("found\n%v\nexpected\n%v", mat.Formatted(got), mat.Formatted(want))
	}
}

// answered writes invented answers for every run of a study.
func answered(t *testing.T, c *Options, figures func(r *studyRun) *withheld) {
	t.Helper()
	runs, err := c.chooseStudies()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if err := writeJSON(r.experiment.path+".json", answer{Settings: r.experiment.settings, Figures: figures(r)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPaperStudyCommand(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	c := &Options{Out: folder, Studies: []string{"diagonal", "sizes"}, Seeds: 2}
	answered(t, c, func(r *studyRun) *withheld {
		w := &withheld{N: 400, ReconMSE: 0.02 / float64(r.experiment.settings.Latent), MeanMSE: 0.04}
		if r.experiment.settings.Run == 2 {
			w.ReconMSE *= 3
		}
		for i := range r.experiment.settings.Latent {
			w.Axes = append(w.Axes, axis{Sigma: 8 / float64(int(1)<<i), Moves: i < 1+r.experiment.settings.Run})
		}
		w.True, w.False = min(r.experiment.settings.Latent, 2), r.experiment.settings.Run-1
		return w
	})
	out, err := suite.Stdout(t, func() error {
		return (&Options{Studies: []string{"diagonal", "sizes"}, Seeds: 2, Out: folder, JSON: true, Runs: 5}).Run(t.Context())
	})
	var got struct {
		Rows    []any    `json:"rows"`
		Studies *studies `json:"studies"`
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &got); err != nil || got.Studies == nil || got.Rows == nil || len(got.Rows) != 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	if d := got.Studies.Diagonal; len(d) != 3 || d[2].Row != "dna-2" || d[0].Seeds != 2 || d[0].Falsely != 1 || !slices.Equal(d[0].True, []int{2, 2}) || !slices.Equal(d[0].False, []int{0, 1}) ||
		d[0].Sigma[0][0] != 1 || d[0].Sigma[1][1] != 0.5 || !d[0].Moves[1][2] || d[0].Moves[0][2] {
		t.Errorf("found %+v", d)
	}
	if s := got.Studies.Sizes; len(s) != 7 || s[0].Latent != 1 || s[0].ReconMSE != 0.04 || s[6].Latent != 16 || !slices.Equal(s[1].Each, []float64{0.01, 0.03}) || math.Abs(s[1].SD.ReconMSE-0.01*math.Sqrt2) > 1e-12 {
		t.Errorf("found %+v", s)
	}
	table, page := string(suite.Content(t, folder, "table.md")), string(suite.Content(t, folder, "table.html"))
	recipe := strconv.Itoa(sdevae.Recipe)
	for _, line := range []string{"| dna-1 | 16 | " + recipe + " | 2 ×2 | 1 ×1, 0 ×1 | 1 of 2 | 1 0.5 0.25 0.125 0.0625 |", "| dna-0 | 2 | " + recipe + " | 2 | 0.02 ± 0.0141 | 0.04 | 50.0 % |", "![The diffusion diagonal](dna-2-diagonal.svg)"} {
		if !strings.Contains(table, line) {
			t.Errorf("no line %s in\n%s", line, table)
		}
	}
	if strings.Contains(table, "L_mu") || strings.Contains(page, "L_mu") || !strings.Contains(page, "<td>1 of 2</td>") || strings.Count(page, "<img ") != 4 {
		t.Errorf("without rows the table is not there, the studies are:\n%s", page)
	}
	for _, name := range []string{"dna-0-diagonal.svg", "dna-1-diagonal.svg", "dna-2-diagonal.svg", "sizes.svg"} {
		if !strings.Contains(string(suite.Content(t, folder, name)), "<svg") {
			t.Errorf("%s is no picture", name)
		}
	}

	for _, e := range madeUp(t, c, "balls-ou", 0.0016, 0.5) {
		if err := writeJSON(e.path+".json", e.found); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := suite.Stdout(t, func() error {
		return (&Options{Studies: []string{"sizes"}, Seeds: 2, Rows: []string{"balls-ou"}, Runs: 1, Out: folder}).Run(t.Context())
	}); err != nil {
		t.Fatal(err)
	}
	if table := string(suite.Content(t, folder, "table.md")); !strings.Contains(table, "| balls-ou | 1 |") || !strings.Contains(table, "## Reconstruction") || strings.Contains(table, "## The diffusion") {
		t.Errorf("rows and one study were asked for:\n%s", table)
	}

	refuses(t, &Options{Studies: []string{"sizes"}, Steps: 7, Out: folder, Runs: 5, Seeds: 1}, "sizes-dna-0-1-1.json: it was made with")
	refuses(t, &Options{Studies: []string{"depth"}, Runs: 5, Seeds: 1, Out: folder}, `--studies: the paper has no study "depth": give diagonal or sizes`)
	refuses(t, &Options{Studies: []string{"sizes"}, Seeds: 0, Runs: 5, Out: folder}, "--seeds: found 0, expected 1 to 1000")
	if err := os.WriteFile(filepath.Join(folder, "diagonal-dna-0-16-1.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, &Options{Studies: []string{"diagonal"}, Out: folder, Runs: 5, Seeds: 1}, "diagonal-dna-0-16-1.json: it was made with")
}
