// Package paper repeats the paper's experiments: the rows of its table and the studies. Each run has its own process. The results are tables and pictures.
package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"driftscope/internal/kit/console"
)

// Options are the flags of the command paper.
type Options struct {
	Rows    []string // names of rows, or all
	Runs    int      // runs per row
	Studies []string // diagonal, sizes
	Seeds   int      // runs of every model in a study
	Seed    uint64   // run K has seed Seed + K
	Out     string   // folder of all results
	Assets  string   // folder with mnist and coil20
	Steps   int      // steps of every training; 0 uses the row's
	Table   bool     // only print existing results
	JSON    bool     // print the table as JSON
	Make    string   // single task to make
}

// Run makes every missing run, and the table of all requested runs.
func (c *Options) Run(ctx context.Context) error {
	rows, err := c.check()
	if err != nil {
		return console.Usage(err)
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return console.Usage(fmt.Errorf("--out: %w", err))
	}
	plan, err := c.plan(rows)
	if err != nil {
		return err
	}
	asked, err := c.chooseStudies()
	if err != nil {
		return console.Usage(err)
	}
	tasks := tasksOf(plan, asked)
	if c.Make != "" {
		return makeOne(ctx, tasks, c.Make)
	}
	var failed []string
	if c.Table {
		plan = slices.DeleteFunc(plan, func(e *experiment) bool { return !e.whole() })
		asked = slices.DeleteFunc(asked, func(r *studyRun) bool { return !r.whole() })
		if len(plan)+len(asked) == 0 {
			return console.Usage(fmt.Errorf("--only-table: %s has no requested results: leave the flag out to make them", c.Out))
		}
	} else if failed, err = makeAll(ctx, tasks, inOwnProcess); err != nil {
		return err
	}
	if err := plan.allow(ctx); err != nil {
		return err
	}
	t := newTable(plan, failed)
	t.Studies = newStudies(asked)
	if err := t.write(c.Out); err != nil {
		return err
	}
	if err := c.print(t); err != nil {
		return err
	}
	console.Say("%s and .html have the table", filepath.Join(c.Out, "table.md"))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d runs failed and are missing in the table (%s): repeat the command to retry them", len(failed), len(tasks), strings.Join(failed, "; "))
	}
	return nil
}

// maxRuns bounds --runs.
const maxRuns = 1000

func (c *Options) check() ([]paperRow, error) {
	switch {
	case c.Runs < 1 || c.Runs > maxRuns:
		return nil, fmt.Errorf("--runs: found %d, expected 1 to %d", c.Runs, maxRuns)
	case c.Seeds < 1 || c.Seeds > maxRuns:
		return nil, fmt.Errorf("--seeds: found %d, expected 1 to %d", c.Seeds, maxRuns)
	case c.Steps < 0:
		return nil, fmt.Errorf("--steps: found %d, expected a positive number", c.Steps)
	case c.Seed > math.MaxUint64-maxRuns:
		return nil, fmt.Errorf("--seed: found %d, expected at most %d", c.Seed, uint64(math.MaxUint64-maxRuns))
	}
	names := c.Rows
	if len(names) == 0 && len(c.Studies) == 0 {
		names = []string{everyRow}
	}
	return chooseRows(names)
}

func (c *Options) print(t *table) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(t)
	}
	_, err := os.Stdout.Write(t.markdown())
	return err
}

// plan has every run of every row, in order.
type plan []*experiment

// plan lists the experiments and reads their existing results.
func (c *Options) plan(rows []paperRow) (plan, error) {
	var p plan
	for _, row := range rows {
		for run := 1; run <= c.Runs; run++ {
			e, err := c.experiment(row, run)
			if err != nil {
				return nil, console.Usage(err)
			}
			if err := e.recall(); err != nil {
				return nil, console.Usage(err)
			}
			p = append(p, e)
		}
	}
	return p, nil
}

// tasksOf lists the runs of rows and studies.
func tasksOf(p plan, asked []*studyRun) (tasks []task) {
	for _, e := range p {
		tasks = append(tasks, e)
	}
	for _, r := range asked {
		tasks = append(tasks, r)
	}
	return tasks
}

// origin records how the results were made.
type origin struct {
	Command string    `json:"command"`
	Commit  string    `json:"commit,omitempty"` // commit of the build, empty if unknown
	Cores   int       `json:"cores"`
	Date    time.Time `json:"date"`
}

func thisOrigin() origin {
	return origin{console.CommandLine(), console.ReadBuild().Commit, runtime.NumCPU(), time.Now().UTC().Truncate(time.Second)}
}
