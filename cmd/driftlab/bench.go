//go:build cgo

package main

import (
	"driftscope/cmd/driftlab/internal/bench/cluster"
	"driftscope/cmd/driftlab/internal/bench/estimator"
	"driftscope/cmd/driftlab/internal/bench/frames"
	"driftscope/cmd/driftlab/internal/bench/learning"
	"driftscope/cmd/driftlab/internal/bench/objects"
	"driftscope/cmd/driftlab/internal/bench/population"
)

// benchCmd measures this machine, and methods on it, one field per study; each has its file.
type benchCmd struct {
	Train      learning.TrainCommand       `cmd:"" help:"Time and memory of a training step, beside PyTorch's where python3 has it."`
	Online     estimator.Command           `cmd:"" help:"The online estimator on simulated latents whose law is known: intervals, dimensions, drift, changes."`
	Frames     frames.Command              `cmd:"" help:"The frame path from the camera to NATS: frames a second, latencies, and the bare kernels beside it."`
	NATS       frames.NATSCommand          `cmd:"" name:"nats" help:"How old a latent is when a subscriber has it, and what publishing takes."`
	Loop       frames.LoopCommand          `cmd:"" help:"From light to pin and back: how long after a frame's exposure its pulse arrives, and how far off the forecast to then is, beside the last estimate."`
	Linear     learning.LinearCommand      `cmd:"" help:"How often the likelihood finds the latent dimension where pictures are linear in the latents."`
	Objects    objects.Command             `cmd:"" help:"Simulated fields of many objects: how well each is located and followed, beside perfect detections."`
	Population population.Command          `cmd:"" help:"The law of many tracks whose truth is known: intervals, errors beside the bound, states, switches, exponents, classes, maps, forces."`
	Nuisance   learning.Command            `cmd:"" help:"Films on which something is wrong, as real cameras and lamps have it: what a training makes of each, beside its clean film."`
	Verdict    learning.VerdictCommand     `cmd:"" help:"How often the verdict of a training is right, on films made at random."`
	Cluster    cluster.Command             `cmd:"" help:"Many workers on a cluster of NATS servers while parts of it are killed, frozen and cut off: what is lost, what is doubled, how long a takeover takes."`
	Recordings estimator.RecordingsCommand `cmd:"" help:"Real recordings of which the answer is known: a trapped bead, stuck beads, colloids in water."`
}
