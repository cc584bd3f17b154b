// Package population measures the law of many tracks with known truth: how often intervals hold it, the errors relative to the least possible error, and how
// often the number of states is right.
package population

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"driftscope/internal/kit/console"
)

// Command draws tracks of known laws, finds their laws, and counts.
type Command struct {
	Studies []string `help:"Studies: pooled, states, count, map, pairs, law, trap (default: all)." placeholder:"NAME"`
	Runs    int      `default:"200" help:"Populations per cell; for map a tenth of this." placeholder:"N"`
	Seed    uint64   `default:"1" help:"Seed of every random draw." placeholder:"S"`
	Most    int      `default:"100000" help:"Largest number of places of a population: larger cells are left out." placeholder:"N"`
	JSON    bool     `name:"json" help:"Print one JSON object instead of tables."`
}

// study measures the cells of one question.
type study struct {
	name    string
	run     func(*bench) ([]Cell, error)
	columns []column // columns of its table, after the common ones
}

// studies lists all studies, in order.
var studies = []study{
	{"pooled", pooled, held},
	{"states", twoStates, held},
	{"count", counted, []column{ratio, count, right}},
	{"map", mapped, mapColumns},
	{"pairs", pairs, pairsColumns},
	{"law", claims, lawColumns},
	{"trap", traps, []column{figure("rate", func(c *Cell) *float64 { return &c.Rate }), figure("holds", func(c *Cell) *float64 { return c.Coverage })}},
}

// Names returns the names of the studies.
func Names() string {
	names := make([]string, len(studies))
	for i, s := range studies {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

// bench is one call of the command.
type bench struct {
	ctx  context.Context
	runs int
	seed uint64
	most int // places of a population
}

// Run measures and prints.
func (c *Command) Run(ctx context.Context) error {
	const maxRuns = 100_000
	if c.Runs < 1 || c.Runs > maxRuns {
		return console.Usage(fmt.Errorf("--runs: found %d, expected 1 to %d", c.Runs, maxRuns))
	}
	if c.Most < 1 {
		return console.Usage(fmt.Errorf("--most: found %d, expected 1 or more", c.Most))
	}
	for _, name := range c.Studies {
		if !slices.ContainsFunc(studies, func(s study) bool { return s.name == name }) {
			return console.Usage(fmt.Errorf("--studies: found %.40q, expected some of %s", name, Names()))
		}
	}
	b := &bench{ctx, c.Runs, c.Seed, c.Most}
	var cells []Cell
	for _, s := range studies {
		if len(c.Studies) > 0 && !slices.Contains(c.Studies, s.name) {
			continue
		}
		found, err := s.run(b)
		if err != nil {
			return err
		}
		cells = append(cells, found...)
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(struct {
			Runs  int    `json:"runs"`
			Seed  uint64 `json:"seed"`
			Cells []Cell `json:"cells"`
		}{c.Runs, c.Seed, cells})
	}
	print(os.Stdout, cells)
	return nil
}

// small are the cells that are not too large.
func (b *bench) small(cells []Cell) []Cell {
	return slices.DeleteFunc(cells, func(c Cell) bool { return c.Tracks*c.Frames > b.most })
}

// fewer is the number of slow populations per so many fast ones that a study draws.
func (b *bench) fewer(by int) int { return max(1, b.runs/by) }

// each calls do for every run of a cell, on all cores; the random numbers of a run are its own, so that results do not depend on their number.
func (b *bench) each(cell uint64, runs int, do func(run int, rng *rand.Rand)) error {
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for run := range next {
				do(run, rand.New(rand.NewPCG(b.seed, cell<<32+uint64(run))))
			}
		})
	}
	for run := range runs {
		if b.ctx.Err() != nil {
			break
		}
		next <- run
	}
	close(next)
	wait.Wait()
	return b.ctx.Err()
}
