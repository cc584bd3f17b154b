package main

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
)

// paperCmd repeats the paper's experiments: every row of its table, trained and measured several times, and its studies.
type paperCmd struct {
	Rows    []string `help:"all, or names of rows, with commas between; all unless given, none with --studies." placeholder:"NAME"`
	Runs    int      `default:"5" help:"Runs a row, each with a path and first weights of its own."`
	Studies []string `help:"diagonal: which of 16 latents of the DNA rows move. sizes: reconstruction against the number of latents. Both judge frames that were not trained on." placeholder:"NAME"`
	Seeds   int      `default:"1" help:"Runs of every model in a study."`
	Seed    uint64   `default:"0" help:"Run K is simulated and trained with seed S + K, K from 1." placeholder:"S"`
	Out     string   `default:"paper" help:"The folder for the table, its pictures, the models, and what each run found; a run found there is not repeated." placeholder:"DIR" type:"path"`
	Assets  string   `help:"A folder with mnist and coil20 in it, for the scenes that draw them; which pictures follows from the seed. Without it they draw stand-ins." placeholder:"DIR" type:"path"`
	Steps   int      `help:"Optimiser steps of every training, instead of the row's or the study's own." placeholder:"N"`
	Table   bool     `name:"only-table" help:"Make no run: the table of those that are there."`
	JSON    bool     `name:"json" help:"Print the table as one JSON object instead of Markdown."`
	Make    string   `hidden:"" help:"Make the task that leaves files of this name, and no table; what makes several at a time."`
}

// Help lists the rows under the command's own help.
func (c *paperCmd) Help() string { return "Rows: " + rowNames(paperRows) + "." }

// Run makes every run that is not there yet, and the table of all that were asked for.
func (c *paperCmd) Run(ctx context.Context) error {
	if err := yieldCores(); err != nil {
		return err
	}
	rows, err := c.check()
	if err != nil {
		return usage(err)
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return usage(fmt.Errorf("--out: %w", err))
	}
	plan, err := c.plan(rows)
	if err != nil {
		return err
	}
	asked, err := c.chooseStudies()
	if err != nil {
		return usage(err)
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
			return usage(fmt.Errorf("--only-table: %s has nothing of what was asked for: leave the flag out, and it is made", c.Out))
		}
	} else if failed, err = makeAll(ctx, tasks, inOwnProcess); err != nil {
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
	say("%s and .html have the table", filepath.Join(c.Out, "table.md"))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d runs failed, the table goes without them: %s: the same command tries them again", len(failed), len(tasks), strings.Join(failed, "; "))
	}
	return nil
}

// maxRuns bounds --runs.
const maxRuns = 1000

func (c *paperCmd) check() ([]paperRow, error) {
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

func (c *paperCmd) print(t *table) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(t)
	}
	_, err := os.Stdout.Write(t.markdown())
	return err
}

// plan is every run of every row, in order.
type plan []*experiment

// plan lists the experiments and reads what is there of them already.
func (c *paperCmd) plan(rows []paperRow) (plan, error) {
	var p plan
	for _, row := range rows {
		for run := 1; run <= c.Runs; run++ {
			e, err := c.experiment(row, run)
			if err != nil {
				return nil, usage(err)
			}
			if err := e.recall(); err != nil {
				return nil, usage(err)
			}
			p = append(p, e)
		}
	}
	return p, nil
}

// tasksOf lists the runs and the studies'.
func tasksOf(p plan, asked []*studyRun) (tasks []task) {
	for _, e := range p {
		tasks = append(tasks, e)
	}
	for _, r := range asked {
		tasks = append(tasks, r)
	}
	return tasks
}

// origin says how results were made.
type origin struct {
	Command string    `json:"command"`
	Commit  string    `json:"commit,omitempty"` // of the build, empty where it is not known
	Cores   int       `json:"cores"`
	Date    time.Time `json:"date"`
}

func thisOrigin() origin {
	return origin{strings.Join(append([]string{"driftscope"}, os.Args[1:]...), " "), thisBuild().Commit, runtime.NumCPU(), time.Now().UTC().Truncate(time.Second)}
}
