// Package learning measures trainings: on films with the defects of real cameras and lamps, beside trainings on the clean films (nuisance.go); how
// often their verdicts are right (verdicts.go); how often the likelihood finds the latent dimension if pictures are linear in the latents
// (linear.go); and a training step beside PyTorch's (train.go).
package learning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"driftscope/ingest/sim"
	"driftscope/internal/job/training"
	"driftscope/internal/kit/console"
)

// Command trains a model of every requested scene and nuisance, and compares it with the truth.
type Command struct {
	Scene    []string  `default:"balls-ou,molecule,ball-wasserstein-ou,dna-0,trapped" help:"Simulated scenes, or trapped: a recording of a real bead." placeholder:"NAME"`
	Nuisance []string  `default:"flicker,step,bleach,uneven,dust,hot,lines,jpeg,saturate" help:"Defects of the film, from the list above." placeholder:"NAME"`
	Amount   []float64 `default:"1,2" help:"Multiples of the common amount; for jpeg, whose amount is a quality, fractions of it." placeholder:"TIMES"`
	Frames   []string  `default:"short,long" help:"Frames to train on: short is 80, long is 1000, or a number." placeholder:"N"`
	Latent   string    `help:"Latent dimension of every model, or auto (default: the scene's own)." placeholder:"D"`
	Seed     uint64    `default:"1" help:"Seed of the films, of the nuisances and of the trainings." placeholder:"S"`
	Data     string    `env:"DRIFTSCOPE_DATA" help:"Folder with deeptrack-trap-good; without it trapped is left out." placeholder:"DIR" type:"path"`
	Out      string    `help:"Folder for the results of each film; the same command continues from there." placeholder:"DIR" type:"path"`
	Steps    int       `hidden:"" help:"Optimiser steps of every training, instead of pretrain's own."`
	JSON     bool      `name:"json" help:"Print one JSON object instead of a table."`
	Make     string    `hidden:"" help:"Measure the cell of this folder's name, in this process; a command with several cells uses this."`
}

// Help describes the measurement, under the command's own help.
func (c *Command) Help() string {
	return "Nuisances: " + strings.Join(defectNames(), ", ") + ". The film gets the nuisance, a model is trained on it with pretrain's defaults, and it is judged as by eval: L_latent a coordinate under an " +
		"isometry over all frames, relative to the clean film. For the trapped bead it is R² of the worse axis of its centroid in the clean film, trained on and fitted affinely to frames 0:80 and judged on 80:100. " +
		fmt.Sprintf("A model is off beyond %d times the clean film's L_latent, or below an R² of %g; it is silently wrong if it is off with a good verdict. ", mostTimes, leastR2) +
		"Twice as strong is twice the amount, and for jpeg half the quality. stage moves the picture, so its figure contains the stage's path. Trainings run one per core, minutes each."
}

// The named lengths.
const (
	short = 80
	long  = 1000
)

// Run measures and prints, even after an interruption.
func (c *Command) Run(ctx context.Context) error {
	if err := training.YieldCores(); err != nil { // as pretrain does
		return err
	}
	cells, err := c.plan()
	if err != nil {
		return console.Usage(err)
	}
	if c.Make != "" {
		return c.makeOne(ctx, cells)
	}
	keep, err := newKept(c.Out, c.Latent, c.Steps)
	if err != nil {
		return err
	}
	err = inProcesses(ctx, cells, keep)
	found := newFindings(c.Seed, cells)
	if printed := c.print(found); printed != nil {
		err = printed
	}
	if err == nil && len(found.Failed) > 0 {
		err = failed(len(found.Failed), len(cells))
	}
	return err
}

// inProcesses measures the missing cells, each by this command in a separate process.
func inProcesses(ctx context.Context, cells []*cell, keep kept) error {
	folder, err := os.MkdirTemp("", "driftscope-nuisance-")
	if err != nil {
		return err
	}
	err = measureAll(ctx, cells, func(ctx context.Context, k *cell) error {
		return keep.measure(ctx, k, func(ctx context.Context, k *cell) error { return k.inOwnProcess(ctx, folder) })
	})
	return errors.Join(err, os.RemoveAll(folder))
}

func failed(n, all int) error {
	return fmt.Errorf("%d of %d films could not be measured: the lines above say why", n, all)
}

func (c *Command) print(found *findings) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

// makeOne measures a single cell for the parent process.
func (c *Command) makeOne(ctx context.Context, cells []*cell) error {
	i := slices.IndexFunc(cells, func(k *cell) bool { return k.file() == filepath.Base(c.Make) })
	if i < 0 {
		return console.Usage(fmt.Errorf("--make: no requested cell has the name %q", filepath.Base(c.Make)))
	}
	if err := c.measure(ctx, cells[i], c.Make); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(cells[i])
}

// plan lists the cells, each clean film before its variants.
func (c *Command) plan() (cells []*cell, err error) {
	lengths, err := c.lengths()
	if err != nil {
		return nil, err
	}
	if d, err := strconv.Atoi(c.Latent); c.Latent != "" && c.Latent != "auto" && (err != nil || d < 1) {
		return nil, fmt.Errorf("--latent: found %q, expected a number from 1, or auto", c.Latent)
	}
	for _, scene := range c.Scene {
		known, err := c.known(scene)
		if err != nil {
			return nil, err
		}
		for _, frames := range lengths {
			if known && c.fits(scene, frames) {
				more, err := c.cells(scene, frames)
				if err != nil {
					return nil, err
				}
				cells = append(cells, more...)
			}
		}
	}
	if len(cells) == 0 {
		return nil, errors.New("nothing is left to measure: give --scene, --nuisance, --amount and --frames, and --data for the trapped bead")
	}
	return cells, nil
}

// lengths returns the numbers of frames from --frames.
func (c *Command) lengths() (all []int, err error) {
	for _, text := range c.Frames {
		n, err := strconv.Atoi(text)
		switch {
		case text == "short":
			n = short
		case text == "long":
			n = long
		case err != nil || n < 2 || n > sim.MaxFrames:
			return nil, fmt.Errorf("--frames: found %q, expected short, long or a number from 2 to %d", text, sim.MaxFrames)
		}
		all = append(all, n)
	}
	return all, nil
}

// known reports whether a scene is available here, and prints why not. A scene that no machine has is an error.
func (c *Command) known(scene string) (bool, error) {
	switch {
	case scene != trapped && !slices.Contains(sim.Names(), scene):
		return false, fmt.Errorf("--scene: found %q, expected some of %s, %s", scene, strings.Join(sim.Names(), ", "), trapped)
	case scene == trapped && c.Data == "":
		console.Say("trapped is left out: give --data, or set DRIFTSCOPE_DATA to the folder of real recordings")
		return false, nil
	}
	return true, nil
}

// fits reports whether a scene has enough frames for training, and prints why not.
func (c *Command) fits(scene string, frames int) bool {
	if scene != trapped || frames == short {
		return true
	}
	console.Say("trapped, %d training frames: left out, because the recording has %d and needs others for judging", frames, short)
	return false
}

// cells returns the clean film of a scene and its variants.
func (c *Command) cells(scene string, frames int) ([]*cell, error) {
	all := []*cell{{Scene: scene, Nuisance: clean, Frames: frames, Seed: c.Seed}}
	for _, kind := range c.Nuisance {
		for _, times := range c.Amount {
			amount, err := defectAmount(kind, times)
			if err != nil {
				return nil, fmt.Errorf("--nuisance: %w", err)
			}
			if err := (defect{Kind: kind, Amount: amount, Frames: frames}).Check(); err != nil {
				return nil, fmt.Errorf("--amount: found %g: %w", times, err)
			}
			all = append(all, &cell{Scene: scene, Nuisance: kind, Times: times, Amount: amount, Frames: frames, Seed: c.Seed})
		}
	}
	return all, nil
}
