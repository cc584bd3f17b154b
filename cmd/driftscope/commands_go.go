//go:build !cgo

package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"driftscope/internal/batch"
	"driftscope/internal/doctor"
	"driftscope/internal/exit"
	"driftscope/internal/law"
	"driftscope/internal/manual"
	"driftscope/internal/orders"
	"driftscope/internal/pool"
)

// commands is the command line of a build without OpenCV: the same names as in commands.go, of which those that are lacking say so.
type commands struct {
	Run        lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: track a source and publish what it does."`
	Watch      watchCmd           `cmd:"" help:"Print what a running stream publishes."`
	View       viewCmd            `cmd:"" help:"Show again what a run wrote, over its film."`
	Dashboard  dashboardCmd       `cmd:"" help:"Show the dashboard of streams on a NATS server elsewhere."`
	Publish    publishCmd         `cmd:"" help:"Send a source's frames over NATS, for a run that reads nats:SUBJECT."`
	Model      modelCmd           `cmd:"" help:"Keep models on a NATS server, for runs that take them from there."`
	Pretrain   lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: learn an encoder from a recording."`
	Eval       lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: measure a model against the truth."`
	Paper      lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: train and measure the paper's experiments, and write the table."`
	Law        law.Command        `cmd:"" help:"Find the law of anyone's tracks: diffusion, states, spectrum."`
	Pool       pool.Command       `cmd:"" help:"Pool the laws of several cameras of one experiment, live over NATS."`
	Site       orders.SiteCommand `cmd:"" help:"Make what a site of many workers keeps on its server."`
	Stream     orders.Command     `cmd:"" help:"Say which streams the workers of a site should run."`
	Work       lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: take streams of a site and run them, beside other workers."`
	Batch      batch.Command      `cmd:"" help:"Track many finished recordings: here, or on workers over NATS."`
	Simulate   simulateCmd        `cmd:"" help:"Write a simulated recording with its truth."`
	Sample     lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: film new paths of a model's law of motion."`
	Probe      probeCmd           `cmd:"" help:"Say what a source holds, without tracking it."`
	Lint       lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: check a configuration without opening anything."`
	Sources    sourcesCmd         `cmd:"" help:"List the kinds of source, step and sink."`
	Doctor     doctor.Command     `cmd:"" help:"Look whether this computer has what runs need, and say what mends it."`
	Demo       lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: track a real film that comes with the program, and show its dashboard."`
	Version    versionCmd         `cmd:"" help:"Say which build this is."`
	Completion manual.Completion  `cmd:"" help:"Print what a shell completes commands and flags by."`
	Man        manual.Page        `cmd:"" hidden:"" help:"Print the manual page."`
	Bench      lackingCmd         `cmd:"" passthrough:"" help:"Not in this build: measure speed and memory on this machine, and methods where the answer is known."`
}

// lackingCmd is a command that needs OpenCV.
type lackingCmd struct {
	Rest []string `arg:"" optional:"" help:"What it would be given."`
}

// Run refuses.
func (lackingCmd) Run(k *kong.Context) error {
	return exit.Usage(fmt.Errorf("%s: needs OpenCV, and this build is without it: use a build with OpenCV, on Linux (docs/howto/desk.md)", k.Selected().Name))
}
