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
	Run        lackingCmd          `cmd:"" group:"Track" passthrough:"" help:"Not in this build: track a source and publish what it does."`
	Batch      batch.Command       `cmd:"" group:"Track" help:"Track many finished recordings: here, or on workers."`
	Demo       lackingCmd          `cmd:"" group:"Track" passthrough:"" help:"Not in this build: track a film that comes with the program, and show it."`
	Watch      watchCmd            `cmd:"" group:"Look" help:"Print what a running stream publishes."`
	View       viewCmd             `cmd:"" group:"Look" help:"Show again what a run wrote, over its film."`
	Dashboard  dashboardCmd        `cmd:"" group:"Look" help:"Show the dashboard of streams on a NATS server elsewhere."`
	Pretrain   lackingCmd          `cmd:"" group:"Model" passthrough:"" help:"Not in this build: learn an encoder from a recording."`
	Eval       lackingCmd          `cmd:"" group:"Model" passthrough:"" help:"Not in this build: measure a model against the truth."`
	Sample     lackingCmd          `cmd:"" group:"Model" passthrough:"" help:"Not in this build: film new paths of a model's law of motion."`
	Model      modelCmd            `cmd:"" group:"Model" help:"Keep models on a NATS server, for runs that take them there."`
	Law        law.Command         `cmd:"" group:"Law" help:"Find the law of anyone's tracks: diffusion, states, spectrum."`
	Pool       pool.Command        `cmd:"" group:"Law" help:"Pool the laws of several cameras of one experiment, live."`
	Probe      probeCmd            `cmd:"" group:"Source" help:"Say what a source holds, without tracking it."`
	Sources    sourcesCmd          `cmd:"" group:"Source" help:"List the kinds of source, step and sink."`
	Publish    publishCmd          `cmd:"" group:"Source" help:"Send a source's frames over NATS, for a run of nats:SUBJECT."`
	Simulate   simulateCmd         `cmd:"" group:"Source" help:"Write a simulated recording with its truth."`
	Site       desired.SiteCommand `cmd:"" group:"Site" help:"Make what a site of many workers keeps on its server."`
	Stream     desired.Command     `cmd:"" group:"Site" help:"Say which streams the workers of a site should run."`
	Work       lackingCmd          `cmd:"" group:"Site" passthrough:"" help:"Not in this build: take streams of a site and run them, beside other workers."`
	Lint       lackingCmd          `cmd:"" group:"Set-up" passthrough:"" help:"Not in this build: check a configuration without opening anything."`
	Doctor     doctor.Command      `cmd:"" group:"Set-up" help:"Look whether this computer has what runs need."`
	Version    versionCmd          `cmd:"" group:"Set-up" help:"Say which build this is."`
	Completion manual.Completion   `cmd:"" group:"Set-up" help:"Print what a shell completes commands and flags by."`
	Man        manual.Page         `cmd:"" hidden:"" help:"Print the manual page."`
}

// lackingCmd is a command that needs OpenCV.
type lackingCmd struct {
	Rest []string `arg:"" optional:"" help:"What it would be given."`
}

// Run refuses.
func (lackingCmd) Run(k *kong.Context) error {
	return exit.Usage(fmt.Errorf("%s: needs OpenCV, and this build is without it: use a build with OpenCV, on Linux (docs/howto/desk.md)", k.Selected().Name))
}
