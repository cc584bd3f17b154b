package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"driftscope/internal/job/recording"
	"driftscope/internal/job/training"
)

// A study's model is trained once and for fewer steps than a row's, because its question needs less. Its film is twice as
// long as the row's, and the training never sees the second half.
const (
	studySteps    = 200
	studyRestarts = 1
)

// study is a question of the paper outside its table. It is answered with models of some rows, with several numbers of latents.
type study struct {
	name    string
	rows    []string
	latents []int
}

// Names of the studies.
const (
	diagonalStudy = "diagonal"
	sizesStudy    = "sizes"
)

// paperStudies are the paper's studies: which of 16 latents move, and the reconstruction error as a function of the number of latents. The paper shows 4, 6 and
// 8 latents, and does not name the film.
var paperStudies = []study{
	{diagonalStudy, []string{"dna-0", "dna-1", "dna-2"}, []int{16}},
	{sizesStudy, []string{"dna-0"}, []int{1, 2, 3, 4, 6, 8, 16}},
}

// studyRun is one training of a study.
type studyRun struct {
	experiment *experiment
	study      string
	answer     *answer
}

// answer is the content of a study run's file.
type answer struct {
	Settings settings  `json:"settings"`
	Origin   origin    `json:"origin"`
	Seconds  float64   `json:"seconds"` // duration of the training since it was last resumed
	Figures  *withheld `json:"figures"`
}

// withheld is a model's result on the half of its film that was not used for training.
type withheld struct {
	N        int     `json:"n"` // frames
	ReconMSE float64 `json:"recon_mse"`
	MeanMSE  float64 `json:"mean_mse"` // error of these frames' own mean picture
	diagonal
}

// chooseStudies returns the runs of the studies named by --studies, with their existing results.
func (c *Options) chooseStudies() ([]*studyRun, error) {
	var runs []*studyRun
	for _, name := range c.Studies {
		if !slices.ContainsFunc(paperStudies, func(s study) bool { return s.name == name }) {
			return nil, fmt.Errorf("--studies: the paper has no study %q: give %s or %s", name, diagonalStudy, sizesStudy)
		}
	}
	for _, s := range paperStudies {
		if !slices.Contains(c.Studies, s.name) {
			continue
		}
		rows, err := chooseRows(s.rows)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			for _, latents := range s.latents {
				for seed := 1; seed <= c.Seeds; seed++ {
					r, err := c.studyRun(s.name, row, latents, seed)
					if err != nil {
						return nil, err
					}
					runs = append(runs, r)
				}
			}
		}
	}
	return runs, nil
}

// studyRun returns one run of a study, with the results of earlier commands.
func (c *Options) studyRun(study string, row paperRow, latents, seed int) (*studyRun, error) {
	row.latent, row.frames, row.steps = latents, 2*row.frames, studySteps
	e, err := c.experiment(row, seed)
	if err != nil {
		return nil, err
	}
	e.path = filepath.Join(c.Out, fmt.Sprintf("%s-%s-%d-%d", study, row.scene, latents, seed))
	r := &studyRun{experiment: e, study: study}
	return r, r.recall()
}

// file returns the name of the run's files, from its experiment.
func (r *studyRun) file() string { return r.experiment.file() }

// recall reads the run's results: its file, or the file beside its model, or a checkpoint.
func (r *studyRun) recall() error {
	found := new(answer)
	there, err := r.experiment.read(r.experiment.path+".json", found, &found.Settings)
	switch {
	case err != nil:
		return err
	case !there:
		return r.experiment.recallTraining(r.training(r.experiment.frames()))
	case found.Figures == nil || len(found.Figures.Axes) == 0:
		return fmt.Errorf("%s.json: figures are missing: delete it or give another --out", r.experiment.path)
	}
	r.answer = found
	return nil
}

// training returns the row's options, with fewer steps and the first half of the film.
func (r *studyRun) training(frames string) *training.Options {
	c := r.experiment.training(frames)
	c.Restarts, c.TrainFrames = studyRestarts, fmt.Sprintf("0:%d", r.experiment.settings.Frames/2)
	return c
}

// perform trains the model and judges it. It always deletes the frames; model, report and checkpoint remain.
func (r *studyRun) perform(ctx context.Context) (err error) {
	begun, frames := time.Now(), r.experiment.frames()
	defer func() { err = errors.Join(err, os.RemoveAll(frames)) }()
	if err := r.experiment.record(ctx); err != nil {
		return err
	}
	before, err := r.experiment.learn(ctx, r.training(frames), begun)
	if err != nil {
		return err
	}
	m, err := r.experiment.see(ctx, frames)
	if err != nil {
		return err
	}
	figures, err := m.withhold(ctx, uint64(r.experiment.settings.Frames/2))
	if err != nil {
		return err
	}
	r.answer = &answer{r.experiment.settings, thisOrigin(), before + time.Since(begun).Seconds(), figures}
	return writeJSON(r.experiment.path+".json", r.answer)
}

// withhold judges the model on the frames from number from on.
func (m *measured) withhold(ctx context.Context, from uint64) (*withheld, error) {
	rows := m.seen.Rows(recording.Span{From: from, To: math.MaxUint64})
	w := &withheld{N: len(rows)}
	if w.N < 2 {
		return nil, fmt.Errorf("%d frames from frame %d on: expected 2 or more for judging", w.N, from)
	}
	for _, i := range rows {
		w.ReconMSE += m.seen.Reconstruction[i] / float64(w.N)
	}
	var err error
	if w.MeanMSE, err = m.variance(ctx, rows[0]); err != nil {
		return nil, err
	}
	w.diagonal, err = m.diagonal(rows)
	return w, err
}

// variance returns the mean squared distance per pixel between the frames from number first on and their mean.
func (m *measured) variance(ctx context.Context, first int) (float64, error) {
	in := m.model.Card.Input
	sums, squares := make([]float64, in.Channels*in.Height*in.Width), 0.0
	err := m.each(ctx, m.film, func(i int, pixels []float32) {
		if i < first {
			return
		}
		for k, v := range pixels {
			sums[k] += float64(v)
			squares += float64(v) * float64(v)
		}
	})
	n, size := float64(len(m.seen.Seq)-first), float64(len(sums))
	for _, s := range sums {
		squares -= s * s / n
	}
	return squares / (n * size), err
}

// whole reports whether the result exists.
func (r *studyRun) whole() bool { return r.answer != nil }

// String names the run.
func (r *studyRun) String() string {
	return fmt.Sprintf("%s, %s with %d latents, seed %d", r.study, r.experiment.settings.Row, r.experiment.settings.Latent, r.experiment.settings.Run)
}

// studied names the models of a study's row.
type studied struct {
	Row     string `json:"row"`
	Latent  int    `json:"latent"`
	Seeds   int    `json:"seeds"`
	Recipes []int  `json:"recipes"` // recipes of the models, without repetition
}

// studies holds the results of the studies, by their names in --studies.
type studies struct {
	Diagonal []diagonalRow `json:"diagonal,omitempty"`
	Sizes    []sizesRow    `json:"sizes,omitempty"`
}

// newStudies groups the answers by row and number of latents, or returns nil if there are none.
func newStudies(runs []*studyRun) *studies {
	s := new(studies)
	for len(runs) > 0 {
		n := 1
		for n < len(runs) && runs[n].study == runs[0].study && runs[n].experiment.settings.Row == runs[0].experiment.settings.Row && runs[n].experiment.settings.Latent == runs[0].experiment.settings.Latent {
			n++
		}
		var figures []*withheld
		var recipes []int
		for _, r := range runs[:n] {
			if r.answer != nil {
				figures, recipes = append(figures, r.answer.Figures), append(recipes, r.answer.Settings.Recipe)
			}
		}
		of := studied{Row: runs[0].experiment.settings.Row, Latent: runs[0].experiment.settings.Latent, Seeds: len(figures), Recipes: distinct(recipes)}
		switch {
		case len(figures) == 0:
		case runs[0].study == diagonalStudy:
			s.Diagonal = append(s.Diagonal, newDiagonalRow(of, figures))
		default:
			s.Sizes = append(s.Sizes, newSizesRow(of, figures))
		}
		runs = runs[n:]
	}
	if s.Diagonal == nil && s.Sizes == nil {
		return nil
	}
	return s
}

// draw writes the pictures of the studies into the folder.
func (s *studies) draw(folder string) error {
	if s == nil {
		return nil
	}
	for i := range s.Diagonal {
		if err := s.Diagonal[i].draw(folder); err != nil {
			return err
		}
	}
	if s.Sizes == nil {
		return nil
	}
	return writePlot(filepath.Join(folder, sizesPicture), drawSizes(s.Sizes))
}

// section is a study in the table's file.
type section struct {
	Title    string
	Head     []string
	Cells    [][]string
	Notes    []string
	Pictures []string
}

// sections returns the sections of the studies that ran.
func (s *studies) sections() (all []section) {
	if s == nil {
		return nil
	}
	if s.Diagonal != nil {
		all = append(all, diagonalSection(s.Diagonal))
	}
	if s.Sizes != nil {
		all = append(all, sizesSection(s.Sizes))
	}
	return all
}

func (s *section) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n| %s |\n|%s\n", s.Title, strings.Join(s.Head, " | "), strings.Repeat("---|", len(s.Head)))
	for _, cells := range s.Cells {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	for _, p := range s.Pictures {
		fmt.Fprintf(&b, "\n![%s](%s)\n", s.Title, p)
	}
	return b.String()
}
