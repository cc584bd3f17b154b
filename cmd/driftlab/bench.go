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

// benchCmd measures this machine and the methods. Each field is a study, in its own package.
type benchCmd struct {
	Train      learning.TrainCommand       `cmd:"" help:"Time and memory of a training step, compared with PyTorch's if python3 has it."`
	Online     estimator.Command           `cmd:"" help:"The online estimator on simulated latents with known laws: intervals, dimensions, drift, changes."`
	Frames     frames.Command              `cmd:"" help:"The frame path from the camera to NATS: frames per second, latencies, and the bare kernels for comparison."`
	NATS       frames.NATSCommand          `cmd:"" name:"nats" help:"The age of a latent when a subscriber receives it, and the time for publishing."`
	Loop       frames.LoopCommand          `cmd:"" help:"The loop from light to pin: the delay from a frame's exposure to its pulse, and the errors of the forecast for the time of the pulse and of the last estimate."`
	Linear     learning.LinearCommand      `cmd:"" help:"How often the likelihood finds the latent dimension if pictures are linear in the latents."`
	Objects    objects.Command             `cmd:"" help:"Simulated fields of many objects: the quality of locating and following, compared with perfect detections."`
	Population population.Command          `cmd:"" help:"The law of many tracks with known truth: intervals, errors relative to the bound, states, switches, exponents, classes, maps, forces."`
	Nuisance   learning.Command            `cmd:"" help:"Films with the defects of real cameras and lamps: the result of a training on each, compared with its clean film."`
	Verdict    learning.VerdictCommand     `cmd:"" help:"How often the verdict of a training is right, on random films."`
	Cluster    cluster.Command             `cmd:"" help:"Many workers on a cluster of NATS servers while parts are killed, frozen and cut off: lost and duplicate results, and the time of a takeover."`
	Recordings estimator.RecordingsCommand `cmd:"" help:"Real recordings with known answers: a trapped bead, stuck beads, colloids in water."`
}
