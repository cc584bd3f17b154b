//go:build cgo

package main

import (
	"driftscope/internal/job/demo"
	"driftscope/internal/job/doctor"
	"driftscope/internal/job/law"
	"driftscope/internal/kit/console"
	"driftscope/internal/site/batch"
	"driftscope/internal/site/orders"
	"driftscope/internal/site/pool"
	"driftscope/internal/site/work"
)

// commands is the command line, with one field per subcommand.
type commands struct {
	Run        runCmd             `cmd:"" group:"Track" help:"Track a source and publish its latents and law."`
	Batch      batch.Command      `cmd:"" group:"Track" help:"Track many finished recordings, here or on workers."`
	Demo       demo.Command       `cmd:"" group:"Track" help:"Track an example film and show its dashboard."`
	Watch      watchCmd           `cmd:"" group:"Look" help:"Print the messages of running streams."`
	View       viewCmd            `cmd:"" group:"Look" help:"Replay results over their film, in the dashboard."`
	Dashboard  dashboardCmd       `cmd:"" group:"Look" help:"Show the dashboard of streams on another NATS server."`
	Pretrain   pretrainCmd        `cmd:"" group:"Model" help:"Train an encoder on recordings."`
	Eval       evalCmd            `cmd:"" group:"Model" help:"Compare a model or tracks with the truth."`
	Sample     sampleCmd          `cmd:"" group:"Model" help:"Render new films from a model's law of motion."`
	Model      modelCmd           `cmd:"" group:"Model" help:"Manage models on a NATS server, for runs with nats:NAME."`
	Law        law.Command        `cmd:"" group:"Law" help:"Find the law of tracks: diffusion, states, spectrum."`
	Pool       pool.Command       `cmd:"" group:"Law" help:"Combine the laws of several cameras, live."`
	Probe      probeCmd           `cmd:"" group:"Source" help:"Print what a source contains, without tracking it."`
	Sources    sourcesCmd         `cmd:"" group:"Source" help:"List kinds of sources, steps and sinks, and the cameras."`
	Publish    publishCmd         `cmd:"" group:"Source" help:"Send a source's frames over NATS to a run of nats:SUBJECT."`
	Simulate   simulateCmd        `cmd:"" group:"Source" help:"Write a simulated recording with its truth."`
	Server     serverCmd          `cmd:"" group:"Site" help:"Run the NATS server of a site."`
	Site       orders.SiteCommand `cmd:"" group:"Site" help:"Set up the NATS server of a site with workers."`
	Stream     orders.Command     `cmd:"" group:"Site" help:"Manage the streams that the workers of a site run."`
	Work       work.Command       `cmd:"" group:"Site" help:"Run streams of a site on this machine, as a worker."`
	Lint       lintCmd            `cmd:"" group:"Set-up" help:"Check a configuration without opening anything."`
	Doctor     doctor.Command     `cmd:"" group:"Set-up" help:"Check this computer and suggest how to fix problems."`
	Version    versionCmd         `cmd:"" group:"Set-up" help:"Print the version. The command completion prints a shell script."`
	Completion console.Completion `cmd:"" group:"Set-up" help:"Print the shell completion script."`
	Man        console.Manual     `cmd:"" hidden:"" help:"Print the manual page."`
	Capture    captureCmd         `cmd:"" hidden:"" help:"Read a source for another driftscope process."`
	TryModel   tryModelCmd        `cmd:"" hidden:"" help:"Open a model for another driftscope process."`
}
