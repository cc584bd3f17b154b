// Package estimator measures the online estimator on simulated latents with known laws, and on real recordings of which the answer is known (recordings.go).
package estimator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"driftscope/internal/kit/console"
)

// Command measures the online estimator on simulated latents with known laws.
type Command struct {
	Runs int      `help:"Simulations per cell (default: 1000 for sigma, 200 for dimension, 24 for the others)." placeholder:"N"`
	Seed uint64   `default:"1" help:"Seed of every random draw." placeholder:"S"`
	Only []string `help:"Studies: sigma, dimension, hidden, drift, change (default: all)." placeholder:"STUDY,..."`
	JSON bool     `name:"json" help:"Print one JSON object instead of tables."`
}

// Help describes the tables, under the command's own help.
func (c *Command) Help() string {
	return "sigma: how often the 95 % interval of the diffusion holds the truth, and the scatter of the estimate relative to the least possible, with noise and lost frames. " +
		"dimension: how often exactly the moving dimensions of 16 are called active. hidden: how often too few latents are reported, rightly and wrongly. drift: the drift's error after one pass, compared with a fit of the whole recording. " +
		"change: the drift's error before and after the law changes. The same seed gives the same figures on any number of cores."
}

// onlineFindings is the result of bench online; it omits studies that were not requested.
type onlineFindings struct {
	Seed      uint64         `json:"seed"`
	Sigma     []sigmaRow     `json:"sigma,omitempty"`
	Dimension []dimensionRow `json:"dimension,omitempty"`
	Hidden    []hiddenRow    `json:"hidden,omitempty"`
	Drift     []driftRow     `json:"drift,omitempty"`
	Change    []changeRow    `json:"change,omitempty"`
}

// onlineStudy is one of bench online's tables.
type onlineStudy struct {
	name string
	runs int // default of --runs
	run  func(f *onlineFindings, s *simulations) error
	show func(f *onlineFindings, w io.Writer)
}

var onlineStudies = []onlineStudy{
	{"sigma", 1000, measureSigma, printSigma},
	{"dimension", 200, measureDimension, printDimension},
	{"hidden", 24, measureHidden, printHidden},
	{"drift", 24, measureDrift, printDrift},
	{"change", 24, measureChange, printChange},
}

// Run measures and prints.
func (c *Command) Run(ctx context.Context) error {
	const maxRuns = 100_000
	studies, err := c.studies()
	if err == nil && (c.Runs < 0 || c.Runs > maxRuns) {
		err = fmt.Errorf("--runs: found %d, expected 1 to %d", c.Runs, maxRuns)
	}
	if err != nil {
		return console.Usage(err)
	}
	found := &onlineFindings{Seed: c.Seed}
	for i, study := range studies {
		runs := study.runs
		if c.Runs > 0 {
			runs = c.Runs
		}
		s := &simulations{ctx: ctx, name: study.name, runs: runs, seed: c.Seed}
		if err := study.run(found, s); err != nil {
			return err
		}
		if c.JSON {
			continue
		}
		if i == 0 {
			fmt.Printf("Simulated latents, seed %d; %d cores, %s.\n", c.Seed, runtime.NumCPU(), time.Now().Format(time.DateOnly))
		}
		fmt.Println()
		study.show(found, os.Stdout)
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	return nil
}

// studies returns the studies that --only names, in list order.
func (c *Command) studies() (chosen []onlineStudy, err error) {
	for _, name := range c.Only {
		if !slices.ContainsFunc(onlineStudies, func(s onlineStudy) bool { return s.name == name }) {
			return nil, fmt.Errorf("--only: there is no study %q: give some of sigma, dimension, hidden, drift, change", name)
		}
	}
	for _, s := range onlineStudies {
		if len(c.Only) == 0 || slices.Contains(c.Only, s.name) {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// simulations runs one study's simulations over the cores.
type simulations struct {
	ctx  context.Context
	name string
	runs int // per cell
	seed uint64
}

// each calls one for every cell and run, on all cores, and prints its progress on standard error. The result of a run depends
// only on its cell and number; each run writes to its own place.
func (s *simulations) each(cells, runs int, one func(cell, run int) error) error {
	group, ctx := errgroup.WithContext(s.ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	counted := &progress{name: s.name, total: cells * runs, begun: time.Now(), said: time.Now()}
	for cell := range cells {
		for run := range runs {
			group.Go(func() error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				err := one(cell, run)
				counted.add()
				return err
			})
		}
	}
	err := group.Wait()
	if s.ctx.Err() != nil {
		return errors.New("interrupted before everything was measured")
	}
	return err
}

// random returns the generator of one run of one cell; no other run uses it.
func (s *simulations) random(cell, run int) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, uint64(cell)<<32|uint64(run)))
}

// progress prints the number of finished runs every ten seconds.
type progress struct {
	name        string
	total       int
	begun, said time.Time

	lock sync.Mutex
	done int
}

func (t *progress) add() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.done++
	if time.Since(t.said) > 10*time.Second {
		t.said = time.Now()
		console.Say("%s: %d of %d simulations in %v", t.name, t.done, t.total, time.Since(t.begun).Round(time.Second))
	}
}
