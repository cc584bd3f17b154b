package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/tuned"
	"driftscope/internal/atomicfile"
	"driftscope/internal/bench/nuisance"
	"driftscope/internal/console"
	"driftscope/internal/exit"
)

// ablationStudy asks of every tuned number what half and twice as much of it makes of films, and of every case what its lack makes of them.
const ablationStudy = "ablation"

// ablated is what one training came to, as its file holds it.
type ablated struct {
	Settings ablationSettings `json:"settings"`
	Origin   origin           `json:"origin"`
	Seconds  float64          `json:"seconds"`
	Missed   float64          `json:"missed"` // L_latent a coordinate, or 1 - R² of the worse axis of the trapped bead
	Verdict  string           `json:"verdict"`
	Asked    []string         `json:"asked,omitempty"` // names that the training asked for, where nothing was changed
}

// ablationSettings is all that it follows from.
type ablationSettings struct {
	Recipe int    `json:"recipe"`
	Film   string `json:"film"`
	Frames int    `json:"frames"`
	Seed   uint64 `json:"seed"`
	Steps  int    `json:"steps,omitempty"`  // of the training; 0 is pretrain's own
	Change string `json:"change,omitempty"` // NAME=FACTOR; empty where nothing is changed
}

// ablationRun is one training of the study.
type ablationRun struct {
	ablationSettings
	data, path string
	found      *ablated
}

// ablate makes what is missing of the study and writes its table. Films without a change come first: they tell what is asked for, and what is never
// asked for cannot change what is made.
func (c *Options) ablate(ctx context.Context) error {
	films, err := c.ablationFilms()
	if err != nil {
		return exit.Usage(err)
	}
	failed, made, err := c.makeRuns(ctx, films)
	if err != nil || made {
		return err
	}
	runs := c.ablationChanges(films)
	more, made, err := c.makeRuns(ctx, runs)
	if err != nil || made {
		return err
	}
	if c.Make != "" {
		return makeOne(ctx, nil, c.Make)
	}
	failed = append(failed, more...)
	text := ablationTable(films, runs)
	if err := console.WriteFile(filepath.Join(c.Out, "ablation.md"), []byte(text)); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d trainings failed: %s: the same command tries them again", len(failed), strings.Join(failed, "; "))
	}
	_, err = os.Stdout.WriteString(text)
	return err
}

// makeRuns recalls the runs and makes what is missing of them; made says that --make asked for one of them, in this process.
func (c *Options) makeRuns(ctx context.Context, runs []*ablationRun) (failed []string, made bool, err error) {
	var tasks []task
	for _, r := range runs {
		if err := r.recall(); err != nil {
			return nil, false, exit.Usage(err)
		}
		tasks = append(tasks, r)
	}
	switch {
	case slices.ContainsFunc(tasks, func(t task) bool { return t.file() == c.Make }):
		return nil, true, makeOne(ctx, tasks, c.Make)
	case c.Make == "" && !c.Table:
		failed, err = makeAll(ctx, tasks, inOwnProcess)
	}
	return failed, false, err
}

// ablationFilms are the runs without a change: of rows, and of the trapped bead where its recording is given.
func (c *Options) ablationFilms() (runs []*ablationRun, err error) {
	if len(c.Studies) > 1 {
		return nil, fmt.Errorf("--studies: %s goes by itself: leave the others out", ablationStudy)
	}
	for _, name := range c.Numbers {
		if !slices.ContainsFunc(tuned.All(), func(k *tuned.Constant) bool { return k.Name == name }) {
			return nil, fmt.Errorf("--numbers: found %q, expected a name of docs/reference/tuned-numbers.md", name)
		}
	}
	names := c.Rows
	if len(names) == 0 {
		names = []string{nuisance.Trapped, "balls-ou", "wasserstein-ou-normal", "dna-0"}
	}
	for _, name := range names {
		rows := []paperRow{{scene: nuisance.Trapped, frames: nuisance.Short}}
		if name != nuisance.Trapped {
			if rows, err = chooseRows([]string{name}); err != nil {
				return nil, err
			}
		}
		for _, row := range rows {
			for run := 1; run <= c.Runs; run++ {
				runs = append(runs, c.ablationRun(ablationSettings{Recipe: sdevae.Recipe, Film: row.scene, Frames: row.frames, Seed: c.Seed + uint64(run), Steps: c.Steps}))
			}
		}
	}
	return runs, nil
}

func (c *Options) ablationRun(s ablationSettings) *ablationRun {
	change := strings.NewReplacer("=", "-").Replace(s.Change)
	return &ablationRun{ablationSettings: s, data: c.Assets, path: filepath.Join(c.Out, strings.TrimSuffix(fmt.Sprintf("ablation-%s-%d-%s", s.Film, s.Seed, change), "-"))}
}

// ablationChanges are the runs with one change each, of all that the film asked for.
func (c *Options) ablationChanges(films []*ablationRun) (runs []*ablationRun) {
	for _, film := range films {
		for _, k := range tuned.All() {
			if film.found == nil || !slices.Contains(film.found.Asked, k.Name) || len(c.Numbers) > 0 && !slices.Contains(c.Numbers, k.Name) {
				continue
			}
			for _, change := range changesOf(k) {
				s := film.ablationSettings
				s.Change = change
				runs = append(runs, c.ablationRun(s))
			}
		}
	}
	return runs
}

// changesOf are what is tried of a constant.
func changesOf(k *tuned.Constant) []string {
	if k.Case {
		return []string{k.Name + "=0"}
	}
	return []string{k.Name + "=0.5", k.Name + "=2"}
}

// file is the name of what the run leaves, without endings.
func (r *ablationRun) file() string { return filepath.Base(r.path) }

// whole says that nothing is left to make.
func (r *ablationRun) whole() bool { return r.found != nil }

// String names the run.
func (r *ablationRun) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s, seed %d, %s", r.Film, r.Seed, r.Change))
}

// recall reads the run's file, where there is one.
func (r *ablationRun) recall() error {
	data, err := atomicfile.ReadBounded(r.path+".json", maxFinding)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	found := new(ablated)
	if err == nil {
		err = json.Unmarshal(data, found)
	}
	if err == nil && found.Settings != r.ablationSettings {
		err = fmt.Errorf("it was made with %+v, this command has %+v", found.Settings, r.ablationSettings)
	}
	if err != nil {
		return fmt.Errorf("%s.json: %w: delete it or give another --out", r.path, err)
	}
	r.found = found
	return nil
}

// perform trains and judges, in a folder that goes.
func (r *ablationRun) perform(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "driftscope-ablation-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	t := &nuisance.Trial{Scene: r.Film, Frames: r.Frames, Seed: r.Seed, Data: r.data, Steps: r.Steps}
	if r.Change != "" {
		t.Scale = []string{r.Change}
	}
	begun := time.Now()
	found := &ablated{Settings: r.ablationSettings, Origin: thisOrigin()}
	if found.Missed, found.Verdict, err = t.Run(ctx, folder); err != nil {
		return err
	}
	found.Seconds = time.Since(begun).Seconds()
	if r.Change == "" {
		for _, k := range tuned.All() {
			if k.Asked() {
				found.Asked = append(found.Asked, k.Name)
			}
		}
	}
	return writeJSON(r.path+".json", found)
}
