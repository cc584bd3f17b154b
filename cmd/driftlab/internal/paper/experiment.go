package paper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/recording"
	"driftscope/internal/job/training"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
	"driftscope/online/drift"
	"driftscope/online/offline"
)

// settings determine all figures of an experiment.
type settings struct {
	Recipe int    `json:"recipe"` // sdevae.Recipe
	Row    string `json:"row"`
	Run    int    `json:"run"` // from 1
	Seed   uint64 `json:"seed"`
	Frames int    `json:"frames"`
	Latent int    `json:"latent"`
	Steps  int    `json:"steps"`
	CLAHE  string `json:"clahe"`
	Crop   string `json:"crop,omitempty"`
	Align  string `json:"align"`

	Pictures string `json:"pictures,omitempty"` // owner of the pictures in the scene
}

// experiment is one run of one row.
type experiment struct {
	settings
	row     paperRow
	assets  string // folder of the scene's pictures
	path    string // path of the experiment's files, without endings
	shown   bool   // only show existing results, of any recipe and pictures
	trained *trained
	found   *finding
}

// trained is the content of the file that is written with an experiment's complete model.
type trained struct {
	Settings settings `json:"settings"`
	Origin   origin   `json:"origin"`
	Seconds  float64  `json:"seconds"` // duration of the training since it was last resumed
}

// finding is the content of an experiment's file.
type finding struct {
	Settings settings               `json:"settings"`
	Origin   origin                 `json:"origin"`
	Seconds  float64                `json:"seconds"` // duration of the training since it was last resumed
	Figures  *evaluation.Evaluation `json:"figures"`
	Oracle   drifting               `json:"oracle"`
	GP       *drifting              `json:"gp"` // drift of the Gaussian process; nil in files of builds without it

	allows *oneFrame // bound of the film's pictures, if computed; not stored in a file
	unit   float64   // error that the unit alone causes, if computed; 0 under an affine map
}

// drifting is the distance of a drift from the true one, as the sum over coordinates and for each.
type drifting struct {
	LMu      float64 `json:"l_mu"`
	LMuCoord float64 `json:"l_mu_coord"`
}

// experiment returns one run of a row, with all settings.
func (c *Options) experiment(row paperRow, run int) (*experiment, error) {
	e := &experiment{row: row, shown: c.Table, path: filepath.Join(c.Out, fmt.Sprintf("%s-%d", row.scene, run)), settings: settings{
		Recipe: sdevae.Recipe, Row: row.scene, Run: run, Seed: c.Seed + uint64(run), Frames: row.frames, Latent: row.latent,
		Steps: cmp.Or(c.Steps, row.steps, sdevae.DefaultSteps), CLAHE: row.clahe, Crop: row.crop, Align: "isometry",
	}}
	if row.affine {
		e.Align = "affine"
	}
	scene, err := e.scene()
	if err == nil && c.Assets != "" && scene.Pictures() != "" {
		e.assets = c.Assets
		scene, err = e.scene()
	}
	if err == nil {
		e.Pictures = scene.Pictures()
	}
	return e, err
}

// scene returns the scene of the experiment's film.
func (e *experiment) scene() (*sim.Scene, error) {
	return sim.New(e.Row, sim.Options{Frames: e.Frames, Seed: e.Seed, Assets: e.assets})
}

// frames returns the folder of the film, which exists only while it is needed.
func (e *experiment) frames() string { return e.path + ".frames" }

// maxFinding bounds an experiment's file.
const maxFinding = 1 << 20

// recall reads the experiment's results: its file, or the file beside its model, or a checkpoint. It refuses results with other settings.
func (e *experiment) recall() error {
	found := new(finding)
	there, err := e.read(e.path+".json", found, &found.Settings)
	if err == nil && there && (found.Figures == nil || found.Figures.LMu == nil || found.Figures.LMuCoord == nil || found.Figures.LMuSeen == nil || found.Figures.ReconMSE == nil ||
		(found.Figures.RegistrationMSE == nil) != (found.Figures.DisplacementMSE == nil) || (e.row.clean != "") != (found.Figures.SmoothedCoord != nil)) {
		err = fmt.Errorf("%s.json: figures are missing: delete it or give another --out", e.path)
	}
	if err != nil {
		return err
	}
	if there {
		e.found = found
		return nil
	}
	return e.recallTraining(e.training(e.frames()))
}

// recallTraining reads the file beside the model, or finds a checkpoint of this training.
func (e *experiment) recallTraining(c *training.Options) error {
	learnt := new(trained)
	there, err := e.read(e.path+trainedEnding, learnt, &learnt.Settings)
	if err != nil {
		return err
	}
	if _, missing := os.Stat(e.path + ".onnx"); there && missing == nil {
		e.trained = learnt
		return nil
	}
	_, err = c.Unfinished()
	return err
}

// trainedEnding is the ending of the file beside a complete model.
const trainedEnding = ".trained.json"

// read reads a file, if it exists, into dst. The file's settings must equal the experiment's settings.
func (e *experiment) read(path string, dst any, made *settings) (there bool, err error) {
	data, err := system.ReadBounded(path, maxFinding)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, dst)
	}
	if err != nil {
		return true, fmt.Errorf("%s: %w: delete it or give another --out", path, err)
	}
	if e.shown {
		e.Pictures, e.Recipe = made.Pictures, made.Recipe
	}
	if *made != e.settings {
		return true, fmt.Errorf("%s: it was made with %s: give the same (pictures: --assets) or another --out", path, made.unlike(&e.settings))
	}
	return true, nil
}

// unlike lists the settings that differ from this command's.
func (s *settings) unlike(here *settings) string {
	var words []string
	made, now := reflect.ValueOf(*s), reflect.ValueOf(*here)
	for i := range made.NumField() {
		if a, b := made.Field(i).Interface(), now.Field(i).Interface(); a != b {
			name, _, _ := strings.Cut(made.Type().Field(i).Tag.Get("json"), ",")
			words = append(words, fmt.Sprintf("%s %v, this command has %v", name, a, b))
		}
	}
	return strings.Join(words, "; ")
}

// writeJSON writes src to a file.
func writeJSON(path string, src any) error {
	data, err := json.MarshalIndent(src, "", "  ")
	if err != nil {
		return err
	}
	return console.WriteFile(path, append(data, '\n'))
}

// String names the run.
func (e *experiment) String() string { return fmt.Sprintf("%s, run %d", e.Row, e.Run) }

// file returns the name of the run's files, without endings.
func (e *experiment) file() string { return filepath.Base(e.path) }

// whole reports whether all results exist.
func (e *experiment) whole() bool { return e.found != nil && e.found.GP != nil }

// perform makes the missing parts of the experiment. It always deletes the frames, which the same settings produce again. Model, report and checkpoint remain.
func (e *experiment) perform(ctx context.Context) (err error) {
	if e.found != nil {
		return e.complete(ctx)
	}
	begun, frames := time.Now(), e.frames()
	defer func() { err = errors.Join(err, os.RemoveAll(frames)) }()
	if err := e.record(ctx); err != nil {
		return err
	}
	before, err := e.learn(ctx, e.training(frames), begun)
	if err != nil {
		return err
	}
	m, err := e.measure(ctx, frames)
	if err != nil {
		return err
	}
	if e.Run == 1 {
		if err := m.draw(ctx, filepath.Join(filepath.Dir(e.path), e.Row)); err != nil {
			return fmt.Errorf("drawing: %w", err)
		}
	}
	e.found = m.finding
	e.found.Origin, e.found.Seconds = thisOrigin(), before+time.Since(begun).Seconds()
	return e.complete(ctx)
}

// record renders the scene into the folder of frames, and replaces an earlier film.
func (e *experiment) record(ctx context.Context) error {
	for _, leftover := range []string{e.frames(), e.frames() + ".partial"} {
		if err := os.RemoveAll(leftover); err != nil {
			return err
		}
	}
	scene, err := e.scene()
	if err != nil {
		return err
	}
	return scene.Record(ctx, e.frames())
}

// learn trains the model and then writes the file beside it, so that measuring can be repeated without training. If the model was already complete, it returns
// the recorded seconds.
func (e *experiment) learn(ctx context.Context, c *training.Options, begun time.Time) (before float64, err error) {
	if e.trained != nil {
		return e.trained.Seconds, nil
	}
	if err := c.Learn(ctx); err != nil {
		return 0, err
	}
	return 0, writeJSON(e.path+trainedEnding, trained{e.settings, thisOrigin(), time.Since(begun).Seconds()})
}

// complete adds the parts of the finding that follow only from the settings, and writes the experiment's file.
func (e *experiment) complete(ctx context.Context) (err error) {
	if e.found.GP, err = e.regress(ctx); err != nil {
		return fmt.Errorf("the Gaussian process' drift: %w", err)
	}
	return writeJSON(e.path+".json", e.found)
}

// training returns the options of the training: pretrain's defaults with the row's changes.
func (e *experiment) training(frames string) *training.Options {
	o := training.Defaults()
	o.Source, o.Latent, o.Out, o.Seed, o.Steps, o.CLAHE = []string{frames}, strconv.Itoa(e.Latent), e.path+".onnx", e.Seed, e.Steps, e.CLAHE
	o.Crop = cmp.Or(e.Crop, o.Crop)
	return &o
}

// measured is a model with its film and the film's truth.
type measured struct {
	experiment *experiment
	alignment  *evaluation.Alignment
	finding    *finding
	model      *infer.Model
	film       *recording.Recording
	seen       *evaluation.Encoded
	truth      *evaluation.Truth
	oracle     *drift.Network // drift learnt from the true latents
}

// measure judges the exported model by the rules of eval. Under an isometry it uses every frame. Under an affine map, fitted on the first half of each film, it
// uses the second halves.
func (e *experiment) measure(ctx context.Context, frames string) (*measured, error) {
	m, err := e.see(ctx, frames)
	if err != nil {
		return nil, err
	}
	if e.row.clean != "" {
		if err := m.denoised(ctx); err != nil {
			return nil, err
		}
	}
	return m, m.judge(ctx)
}

// see encodes the film with the exported model, and reads the truth.
func (e *experiment) see(ctx context.Context, frames string) (*measured, error) {
	m := &measured{experiment: e}
	var err error
	if m.model, err = infer.Load(e.path + ".onnx"); err != nil {
		return nil, err
	}
	if m.film, err = recording.Open(frames, 0, 0, "", recording.Whole); err != nil {
		return nil, err
	}
	if m.seen, err = evaluation.EncodeAll(ctx, m.model, m.film); err != nil {
		return nil, err
	}
	eval := &evaluation.Options{Video: frames, Truth: filepath.Join(frames, "truth.csv")}
	m.truth, err = eval.ReadTruth(ctx, m.film, m.seen)
	return m, err
}

func (m *measured) judge(ctx context.Context) error {
	all := m.seen.Rows(recording.Whole)
	split := evaluation.Split{Fitted: all, Judged: all}
	var err error
	if m.experiment.row.affine {
		films := evaluation.Films(m.seen.Trajectory)
		split.Fitted, split.Judged = halves(films)
		m.alignment, err = layFilms(m.seen.Z, m.truth.Z, films)
	} else {
		m.alignment, err = evaluation.Lay(m.experiment.settings.Align, m.seen.Z, m.truth.Z, split.Fitted)
	}
	if err != nil {
		return err
	}
	figures, err := evaluation.Judge(m.model, m.seen, m.truth, split.Judged, m.alignment)
	if err != nil {
		return err
	}
	if m.experiment.row.moved.RegistrationMSE > 0 {
		if err := figures.Compare(ctx, m.seen, m.truth, split, m.alignment); err != nil {
			return err
		}
	}
	if m.experiment.row.clean != "" {
		if err := figures.Smooth(m.seen, m.truth, split); err != nil {
			return err
		}
	}
	if m.oracle, err = m.consult(); err != nil {
		return fmt.Errorf("the oracle's drift: %w", err)
	}
	off := offline.MeanSquares(evaluation.DriftAt(m.oracle, evaluation.PickRows(m.truth.Z, split.Judged)), evaluation.PickRows(m.truth.Mu, split.Judged))
	m.finding = &finding{Settings: m.experiment.settings, Figures: figures, Oracle: drifting{evaluation.Sum(off), evaluation.Sum(off) / float64(len(off))}}
	return nil
}

// consult learns the drift in the same way as the export, but from the true latents, which have no error.
func (m *measured) consult() (*drift.Network, error) {
	_, d := m.truth.Z.Dims()
	return offline.Fit(m.seen.Path(m.truth.Z), offline.Config{Dim: d, Seed: m.experiment.settings.Seed})
}

// denoised compares the reconstructions with the pictures without noise, in the pictures' own range, as in the paper.
func (m *measured) denoised(ctx context.Context) error {
	pictures, err := m.decode(m.seen.Rows(recording.Whole))
	if err != nil {
		return err
	}
	low, high, err := window(m.model.Card.Preprocess)
	if err != nil {
		return err
	}
	return m.each(ctx, m.clean(), func(i int, pixels []float32) {
		m.seen.Reconstruction[i] = (high - low) * (high - low) * evaluation.MeanSquare(pixels, pictures[i])
	})
}

// clean returns the same film without noise.
func (m *measured) clean() *recording.Recording {
	options := map[string]any{"name": m.experiment.row.clean, "seed": m.experiment.settings.Seed, "frames": m.experiment.settings.Frames, "realtime": false}
	if m.experiment.assets != "" {
		options["assets"] = m.experiment.assets
	}
	return recording.Simulation(m.experiment.row.clean, options)
}

// window returns the range of the recording's values that preprocessing maps to [0, 1].
func window(steps []card.Step) (low, high float64, err error) {
	for _, s := range steps {
		var n struct{ Window [2]float64 }
		data, err := json.Marshal(s.Options)
		if err == nil && s.Kind == "normalise" {
			err = json.Unmarshal(data, &n)
		}
		if n.Window[0] < n.Window[1] && err == nil {
			return n.Window[0], n.Window[1], nil
		}
	}
	return 0, 0, errors.New("the model's preprocessing has no fixed grey window")
}
