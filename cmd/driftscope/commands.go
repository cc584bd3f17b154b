//go:build cgo

package main

import (
	"driftscope/internal/batch"
	"driftscope/internal/demo"
	"driftscope/internal/doctor"
	"driftscope/internal/law"
	"driftscope/internal/manual"
	"driftscope/internal/orders"
	"driftscope/internal/pool"
	"driftscope/internal/work"
)

// commands is the command line, one field a sub-command; each has its file.
type commands struct {
	Run        runCmd             `cmd:"" help:"Track a source and publish what it does."`
	Watch      watchCmd           `cmd:"" help:"Print what a running stream publishes."`
	View       viewCmd            `cmd:"" help:"Show again what a run wrote, over its film."`
	Dashboard  dashboardCmd       `cmd:"" help:"Show the dashboard of streams on a NATS server elsewhere."`
	Publish    publishCmd         `cmd:"" help:"Send a source's frames over NATS, for a run that reads nats:SUBJECT."`
	Model      modelCmd           `cmd:"" help:"Keep models on a NATS server, for runs that take them from there."`
	Pretrain   pretrainCmd        `cmd:"" help:"Learn an encoder from a recording."`
	Eval       evalCmd            `cmd:"" help:"Measure a model against the truth."`
	Paper      paperCmd           `cmd:"" help:"Train and measure the paper's experiments, and write the table."`
	Law        law.Command        `cmd:"" help:"Find the law of anyone's tracks: diffusion, states, spectrum."`
	Pool       pool.Command       `cmd:"" help:"Pool the laws of several cameras of one experiment, live over NATS."`
	Site       orders.SiteCommand `cmd:"" help:"Make what a site of many workers keeps on its server."`
	Stream     orders.Command     `cmd:"" help:"Say which streams the workers of a site should run."`
	Work       work.Command       `cmd:"" help:"Take streams of a site and run them, beside other workers."`
	Batch      batch.Command      `cmd:"" help:"Track many finished recordings: here, or on workers over NATS."`
	Simulate   simulateCmd        `cmd:"" help:"Write a simulated recording with its truth."`
	Sample     sampleCmd          `cmd:"" help:"Film new paths of a model's law of motion."`
	Probe      probeCmd           `cmd:"" help:"Say what a source holds, without tracking it."`
	Lint       lintCmd            `cmd:"" help:"Check a configuration without opening anything."`
	Sources    sourcesCmd         `cmd:"" help:"List the kinds of source, step and sink."`
	Doctor     doctor.Command     `cmd:"" help:"Look whether this computer has what runs need, and say what mends it."`
	Demo       demo.Command       `cmd:"" help:"Track a real film that comes with the program, and show its dashboard."`
	Version    versionCmd         `cmd:"" help:"Say which build this is."`
	Completion manual.Completion  `cmd:"" help:"Print what a shell completes commands and flags by."`
	Man        manual.Page        `cmd:"" hidden:"" help:"Print the manual page."`
	Capture    captureCmd         `cmd:"" hidden:"" help:"Read a source on behalf of another driftscope."`
	TryModel   tryModelCmd        `cmd:"" hidden:"" help:"Open a model on behalf of another driftscope."`
	Bench      benchCmd           `cmd:"" help:"Measure speed and memory on this machine, and methods where the answer is known."`
}
