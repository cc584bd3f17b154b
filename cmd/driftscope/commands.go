//go:build cgo

package main

import (
	"driftscope/internal/batch"
	"driftscope/internal/demo"
	"driftscope/internal/desired"
	"driftscope/internal/doctor"
	"driftscope/internal/law"
	"driftscope/internal/manual"
	"driftscope/internal/pool"
	"driftscope/internal/work"
)

// commands is the command line, one field a sub-command; each has its file.
type commands struct {
	Run        runCmd              `cmd:"" help:"Track a source and publish its latents and law."`
	Watch      watchCmd            `cmd:"" help:"Print the messages of running streams."`
	View       viewCmd             `cmd:"" help:"Replay results over their film, in the dashboard."`
	Dashboard  dashboardCmd        `cmd:"" help:"Show the dashboard of streams on another NATS server."`
	Publish    publishCmd          `cmd:"" help:"Send a source's frames over NATS to a run of nats:SUBJECT."`
	Model      modelCmd            `cmd:"" help:"Manage models on a NATS server, for runs with nats:NAME."`
	Pretrain   pretrainCmd         `cmd:"" help:"Train an encoder on recordings."`
	Eval       evalCmd             `cmd:"" help:"Compare a model or tracks with the truth."`
	Paper      paperCmd            `cmd:"" help:"Train and measure the paper's experiments, and write the table."`
	Law        law.Command         `cmd:"" help:"Find the law of a table of tracks: diffusion, states, spectrum."`
	Pool       pool.Command        `cmd:"" help:"Combine the laws of several cameras of one experiment, live over NATS."`
	Site       desired.SiteCommand `cmd:"" help:"Set up the NATS server of a site with workers."`
	Stream     desired.Command     `cmd:"" help:"Manage the streams that the workers of a site run."`
	Work       work.Command        `cmd:"" help:"Run streams of a site on this machine, as a worker."`
	Batch      batch.Command       `cmd:"" help:"Track many finished recordings, here or on workers over NATS."`
	Simulate   simulateCmd         `cmd:"" help:"Write a simulated recording with its truth."`
	Sample     sampleCmd           `cmd:"" help:"Draw new films from a model's law of motion."`
	Probe      probeCmd            `cmd:"" help:"Print what a source contains, without tracking it."`
	Lint       lintCmd             `cmd:"" help:"Check a configuration without opening anything."`
	Sources    sourcesCmd          `cmd:"" help:"List the kinds of sources, steps and sinks, and this machine's cameras."`
	Doctor     doctor.Command      `cmd:"" help:"Check this computer, and print the commands that fix problems."`
	Demo       demo.Command        `cmd:"" help:"Track a real film that the program includes, and show its dashboard."`
	Version    versionCmd          `cmd:"" help:"Print the version."`
	Completion manual.Completion   `cmd:"" help:"Print the shell completion script."`
	Man        manual.Page         `cmd:"" hidden:"" help:"Print the manual page."`
	Capture    captureCmd          `cmd:"" hidden:"" help:"Read a source for another driftscope process."`
	TryModel   tryModelCmd         `cmd:"" hidden:"" help:"Open a model for another driftscope process."`
	Bench      benchCmd            `cmd:"" help:"Measure speed and memory on this machine, and methods where the answer is known."`
}
