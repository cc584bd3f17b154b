//go:build cgo

// Driftlab measures driftscope and its methods: benches, the paper's experiments, the soak, and figures that have a floor. It is not part of the product.
package main

import (
	"context"

	"driftscope/cmd/driftlab/internal/floors"
	"driftscope/cmd/driftlab/internal/soak"
	"driftscope/infer"
	"driftscope/ingest"
	"driftscope/internal/kit/console"
)

// commands is the command line, one field a sub-command.
type commands struct {
	Bench    benchCmd       `cmd:"" help:"Measure speed and memory on this machine, and methods with known answers."`
	Paper    paperCmd       `cmd:"" help:"Train and measure the paper's experiments, and write the table."`
	Soak     soak.Command   `cmd:"" help:"Run driftscope under faults for minutes or hours, and audit the results."`
	Floors   floors.Command `cmd:"" help:"Measure the figures that have a floor, or compare this checkout with another commit."`
	Capture  captureCmd     `cmd:"" hidden:"" help:"Read a source on behalf of another driftlab."`
	TryModel tryModelCmd    `cmd:"" hidden:"" help:"Open a model on behalf of another driftlab."`
}

func main() { console.Main(execute) }

// execute runs one command line and returns its exit status: 0 done, 1 failed while running, 2 wrong usage or configuration.
func execute(ctx context.Context, args []string) int {
	p := console.Program{Name: "driftlab", Description: "Measure driftscope and its methods.", Commands: &commands{}}
	return p.Execute(ctx, args)
}

// captureCmd and tryModelCmd are the child processes that sources and models start, as in driftscope.
type (
	captureCmd  struct{}
	tryModelCmd struct{}
)

// Run captures until standard input ends.
func (captureCmd) Run(ctx context.Context) error {
	return ingest.CaptureProcess(context.WithoutCancel(ctx))
}

// Run tries the model on standard input.
func (tryModelCmd) Run() error { return infer.TrialProcess() }
