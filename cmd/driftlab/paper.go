//go:build cgo

package main

import (
	"context"

	"driftscope/cmd/driftlab/internal/paper"
	"driftscope/internal/job/training"
)

// paperCmd repeats the paper's experiments: it trains and measures every row of the table several times, and runs the studies.
type paperCmd struct {
	Rows    []string `help:"all, or names of rows, separated by commas (default: all; none with --studies)." placeholder:"NAME"`
	Runs    int      `default:"5" help:"Runs per row, each with its own path and initial weights."`
	Studies []string `help:"diagonal: which of 16 latents of the DNA rows move. sizes: reconstruction against the number of latents. Both use frames outside the training set." placeholder:"NAME"`
	Seeds   int      `default:"1" help:"Runs of every model in a study."`
	Seed    uint64   `default:"0" help:"Run K is simulated and trained with seed S + K, K from 1." placeholder:"S"`
	Out     string   `default:"paper" help:"Folder for the table, its pictures, the models, and the result of each run; existing results are not repeated." placeholder:"DIR" type:"path"`
	Assets  string   `help:"Folder with mnist and coil20, for the scenes that draw them; the seed selects pictures. Without it they draw stand-ins." placeholder:"DIR" type:"path"`
	Steps   int      `help:"Optimiser steps of every training, instead of the number set by the row or the study." placeholder:"N"`
	Table   bool     `name:"only-table" help:"Make no new run: print the table of the existing runs."`
	JSON    bool     `name:"json" help:"Print the table as one JSON object instead of Markdown."`
	Make    string   `hidden:"" help:"Run only the task that writes files of this name, and print no table; for commands that start several tasks."`
}

// Help lists the rows under the command's own help.
func (c *paperCmd) Help() string { return "Rows: " + paper.RowNames() + "." }

// Run makes every missing run and the table of all requested runs.
func (c *paperCmd) Run(ctx context.Context) error {
	if err := training.YieldCores(); err != nil {
		return err
	}
	o := paper.Options(*c)
	return o.Run(ctx)
}
