package learning

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"driftscope/ingest/sim"
	"driftscope/internal/job/training"
	"driftscope/internal/kit/console"
)

// VerdictCommand measures how often the verdict of a training is right, on random films.
type VerdictCommand struct {
	Films int    `default:"100" help:"Number of films." placeholder:"N"`
	Seed  uint64 `default:"1" help:"Seed of the draw: another seed makes films that no verdict has seen." placeholder:"S"`
	JSON  bool   `name:"json" help:"Print one JSON object instead of a table."`
	Out   string `help:"Folder for the results of each film; the same command continues from there, also with more films." placeholder:"DIR" type:"path"`
	Steps int    `hidden:"" help:"Optimiser steps of every training, instead of pretrain's own."`
	Make  string `hidden:"" help:"Measure the cell of this folder's name, in this process; a command with several cells uses this."`
}

// Help describes the films and the judging, under the command's own help.
func (c *VerdictCommand) Help() string {
	return fmt.Sprintf("A film is a simulated scene, %d to %d frames long, with none, one or two nuisances of half to four times the common amount. The model has the scene's number of latents and is trained with "+
		"pretrain's defaults. After alignment by an isometry it is right if R² is %g or more for every coordinate, and wrong if it is less than %g for one.", fewest, most, rightR2, wrongR2)
}

// The bounds of the draws, and the classes of a model.
const (
	fewest, most = 60, 1000
	rightR2      = 0.9
	wrongR2      = 0.5
)

// Run makes the films, trains and prints, even after an interruption.
func (c *VerdictCommand) Run(ctx context.Context) error {
	if c.Films < 1 || c.Films > 10000 {
		return console.Usage(fmt.Errorf("--films: found %d, expected 1 to 10000", c.Films))
	}
	if err := training.YieldCores(); err != nil { // as pretrain does
		return err
	}
	cells, err := c.draw()
	if err != nil {
		return err
	}
	if c.Make != "" {
		one := &Command{Steps: c.Steps, Make: c.Make}
		return one.makeOne(ctx, cells)
	}
	keep, err := newKept(c.Out, "", c.Steps)
	if err != nil {
		return err
	}
	err = inProcesses(ctx, cells, keep)
	found := newVerdicts(c.Seed, cells)
	if c.JSON {
		if printed := json.NewEncoder(os.Stdout).Encode(found); printed != nil {
			return printed
		}
	} else {
		found.print(os.Stdout)
	}
	if err == nil && len(found.Films) < len(cells) {
		err = failed(len(cells)-len(found.Films), len(cells))
	}
	return err
}

// draw draws the films.
func (c *VerdictCommand) draw() (cells []*cell, err error) {
	rng := rand.New(rand.NewPCG(c.Seed, math.MaxUint64))
	scenes := sim.Names()
	for range c.Films {
		k := &cell{Scene: scenes[rng.IntN(len(scenes))], Nuisance: "random", Frames: int(fewest * math.Pow(float64(most)/fewest, rng.Float64())), Seed: uint64(rng.Uint32()), On: []laid{}}
		for range laidOn(k.Scene, rng) {
			kind := usual[rng.IntN(len(usual))]
			amount, err := defectAmount(kind, 0.5*math.Pow(8, rng.Float64()))
			if err != nil {
				return nil, err
			}
			k.On = append(k.On, laid{kind, amount})
		}
		cells = append(cells, k)
	}
	return cells, nil
}

// usual are the nuisances that keep the truth; a stage moves the object.
var usual = []string{"flicker", "step", "bleach", "uneven", "dust", "hot", "lines", "jpeg", "saturate"}

// laidOn draws the number of nuisances on a scene: none on pictures of real values, which have their own noise.
func laidOn(scene string, rng *rand.Rand) int {
	n := rng.IntN(3)
	if strings.HasSuffix(scene, "-normal") || strings.HasSuffix(scene, "-student") {
		return 0
	}
	return n
}

// verdicts is the result of bench verdict.
type verdicts struct {
	Seed   uint64                    `json:"seed"`
	Films  []*cell                   `json:"films"`
	Counts map[string]map[string]int `json:"counts"` // by verdict, then by the model's class: right, between, wrong, none
}

// truths are the classes of a model; none means that it was rejected.
var truths = []string{"right", "between", "wrong", "none"}

func newVerdicts(seed uint64, cells []*cell) *verdicts {
	v := &verdicts{Seed: seed, Films: measured(cells, false), Counts: map[string]map[string]int{}}
	for _, k := range v.Films {
		if v.Counts[k.Verdict] == nil {
			v.Counts[k.Verdict] = map[string]int{}
		}
		v.Counts[k.Verdict][k.truth()]++
	}
	return v
}

// truth returns the model's class.
func (k *cell) truth() string {
	switch {
	case k.Held == nil:
		return "none"
	case *k.Held >= rightR2:
		return "right"
	case *k.Held >= wrongR2:
		return "between"
	}
	return "wrong"
}

// print prints the reliability of each verdict, and the films.
func (v *verdicts) print(w io.Writer) {
	trusted, wrong := 0, 0
	for _, of := range truths {
		trusted += v.Counts[good][of]
	}
	for _, by := range v.Counts {
		wrong += by["wrong"]
	}
	told := wrong - v.Counts[good]["wrong"]
	fmt.Fprintf(w, "%d films were called good, and %d of them are right. Of %d wrong models %d were called bad, %d in doubt or bad. Seed %d.\n\n", trusted, v.Counts[good]["right"], wrong, v.Counts[bad]["wrong"], told, v.Seed)
	fmt.Fprintln(w, "| verdict | right | between | wrong | no model |\n|---|---|---|---|---|")
	for _, level := range []string{good, "doubt", bad} {
		by := v.Counts[level]
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d |\n", level, by["right"], by["between"], by["wrong"], by["none"])
	}
	fmt.Fprintln(w, "\n| scene | frames | seed | nuisances | R² | verdict | training, s |\n|---|---|---|---|---|---|---|")
	for _, k := range v.Films {
		verdict := k.Verdict
		if k.Reason != "" {
			verdict += ": " + k.Reason
		}
		fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %s | %.0f |\n", k.Scene, k.Frames, k.Seed, k.nuisances(), orNone(k.Held), verdict, k.Seconds)
	}
}
