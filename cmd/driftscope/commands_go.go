//go:build !cgo

package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"driftscope/internal/batch"
	"driftscope/internal/desired"
	"driftscope/internal/doctor"
	"driftscope/internal/exit"
	"driftscope/internal/law"
	"driftscope/internal/manual"
	"driftscope/internal/pool"
)

// commands is the command line of a build without OpenCV: the same names as in commands.go, of which those that are lacking say so.
type commands struct {
	Run        lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: track a source and publish its latents and law."`
	Watch      watchCmd            `cmd:"" help:"Print the messages of running streams."`
	View       viewCmd             `cmd:"" help:"Replay results over their film, in the dashboard."`
	Dashboard  dashboardCmd        `cmd:"" help:"Show the dashboard of streams on another NATS server."`
	Publish    publishCmd          `cmd:"" help:"Send a source's frames over NATS to a run of nats:SUBJECT."`
	Model      modelCmd            `cmd:"" help:"Manage models on a NATS server, for runs with nats:NAME."`
	Pretrain   lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: train an encoder on recordings."`
	Eval       lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: compare a model or tracks with the truth."`
	Paper      lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: train and measure the paper's experiments, and write the table."`
	Law        law.Command         `cmd:"" help:"Find the law of a table of tracks: diffusion, states, spectrum."`
	Pool       pool.Command        `cmd:"" help:"Combine the laws of several cameras of one experiment, live over NATS."`
	Site       desired.SiteCommand `cmd:"" help:"Set up the NATS server of a site with workers."`
	Stream     desired.Command     `cmd:"" help:"Manage the streams that the workers of a site run."`
	Work       lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: run streams of a site on this machine, as a worker."`
	Batch      batch.Command       `cmd:"" help:"Track many finished recordings, here or on workers over NATS."`
	Simulate   simulateCmd         `cmd:"" help:"Write a simulated recording with its truth."`
	Sample     lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: draw new films from a model's law of motion."`
	Probe      probeCmd            `cmd:"" help:"Print what a source contains, without tracking it."`
	Lint       lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: check a configuration without opening anything."`
	Sources    sourcesCmd          `cmd:"" help:"List the kinds of sources, steps and sinks, and this machine's cameras."`
	Doctor     doctor.Command      `cmd:"" help:"Check this computer, and print the commands that fix problems."`
	Demo       lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: track a real film that the program includes, and show its dashboard."`
	Version    versionCmd          `cmd:"" help:"Print the version."`
	Completion manual.Completion   `cmd:"" help:"Print the shell completion script."`
	Man        manual.Page         `cmd:"" hidden:"" help:"Print the manual page."`
	Bench      lackingCmd          `cmd:"" passthrough:"" help:"Not in this build: measure speed and memory on this machine, and methods where the answer is known."`
}

// lackingCmd is a command that needs OpenCV.
type lackingCmd struct {
	Rest []string `arg:"" optional:"" help:"Its arguments."`
}

// Run refuses.
func (lackingCmd) Run(k *kong.Context) error {
	return exit.Usage(fmt.Errorf("%s: needs OpenCV, and this build is without it: use a build with OpenCV, on Linux (docs/howto/desk.md)", k.Selected().Name))
}
