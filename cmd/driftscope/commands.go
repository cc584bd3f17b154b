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
	Run        runCmd              `cmd:"" group:"Track" help:"Track a source and publish what it does."`
	Batch      batch.Command       `cmd:"" group:"Track" help:"Track many finished recordings: here, or on workers."`
	Demo       demo.Command        `cmd:"" group:"Track" help:"Track a film that comes with the program, and show it."`
	Watch      watchCmd            `cmd:"" group:"Look" help:"Print what a running stream publishes."`
	View       viewCmd             `cmd:"" group:"Look" help:"Show again what a run wrote, over its film."`
	Dashboard  dashboardCmd        `cmd:"" group:"Look" help:"Show the dashboard of streams on a NATS server elsewhere."`
	Pretrain   pretrainCmd         `cmd:"" group:"Model" help:"Learn an encoder from a recording."`
	Eval       evalCmd             `cmd:"" group:"Model" help:"Measure a model against the truth."`
	Sample     sampleCmd           `cmd:"" group:"Model" help:"Film new paths of a model's law of motion."`
	Model      modelCmd            `cmd:"" group:"Model" help:"Keep models on a NATS server, for runs that take them there."`
	Law        law.Command         `cmd:"" group:"Law" help:"Find the law of anyone's tracks: diffusion, states, spectrum."`
	Pool       pool.Command        `cmd:"" group:"Law" help:"Pool the laws of several cameras of one experiment, live."`
	Probe      probeCmd            `cmd:"" group:"Source" help:"Say what a source holds, without tracking it."`
	Sources    sourcesCmd          `cmd:"" group:"Source" help:"List the kinds of source, step and sink."`
	Publish    publishCmd          `cmd:"" group:"Source" help:"Send a source's frames over NATS, for a run of nats:SUBJECT."`
	Simulate   simulateCmd         `cmd:"" group:"Source" help:"Write a simulated recording with its truth."`
	Site       desired.SiteCommand `cmd:"" group:"Site" help:"Make what a site of many workers keeps on its server."`
	Stream     desired.Command     `cmd:"" group:"Site" help:"Say which streams the workers of a site should run."`
	Work       work.Command        `cmd:"" group:"Site" help:"Take streams of a site and run them, beside other workers."`
	Lint       lintCmd             `cmd:"" group:"Set-up" help:"Check a configuration without opening anything."`
	Doctor     doctor.Command      `cmd:"" group:"Set-up" help:"Look whether this computer has what runs need."`
	Version    versionCmd          `cmd:"" group:"Set-up" help:"Say which build this is."`
	Completion manual.Completion   `cmd:"" group:"Set-up" help:"Print what a shell completes commands and flags by."`
	Man        manual.Page         `cmd:"" hidden:"" help:"Print the manual page."`
	Capture    captureCmd          `cmd:"" hidden:"" help:"Read a source on behalf of another driftscope."`
	TryModel   tryModelCmd         `cmd:"" hidden:"" help:"Open a model on behalf of another driftscope."`
}
