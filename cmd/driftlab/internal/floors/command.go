// Package floors measures the figures in floors.txt, each as a ratio within one run, and fails if a figure is beyond its floor. With --base it measures
// another commit in alternation with this checkout, and prints the ratio of both with its interval.
//
//	make floors
//	make compare BASE=17a9673
//
// It runs the programs in bin and the Go benchmarks of this checkout, see measure.go.
package floors

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
)

// Command measures, with its flags.
type Command struct {
	Base   string `help:"Compare with this commit." placeholder:"COMMIT"`
	Rounds int    `default:"2" help:"Rounds of measuring, 2 to 100."`
	Only   string `help:"Measure only the groups that match this pattern, such as objects." placeholder:"REGEXP"`
}

// Run measures this checkout and, if given, a base.
func (c *Command) Run(ctx context.Context) error { return run(ctx, c.Base, c.Rounds, c.Only) }

// plan lists the groups to measure, the number of rounds, and the floors.
type plan struct {
	groups []group
	floors []floor
	rounds int
	out    io.Writer
}

// run measures this checkout and, unless base is empty, the commit base.
func run(ctx context.Context, base string, rounds int, only string) error {
	pattern, err := regexp.Compile(only)
	if err != nil || rounds < 2 || rounds > 100 {
		return fmt.Errorf("--only, --rounds: found %q and %d, expected a pattern and 2 to 100", only, rounds)
	}
	p := plan{rounds: rounds, out: os.Stdout}
	if p.floors, err = readFloors("cmd/driftlab/internal/floors/floors.txt"); err != nil {
		return err
	}
	for _, g := range groups() {
		if pattern.MatchString(g.name) {
			p.groups = append(p.groups, g)
		}
	}
	here, err := checkout(ctx, ".")
	if err != nil {
		return err
	}
	defer here.remove()
	if base == "" {
		return p.hold(ctx, here)
	}
	other, err := commit(ctx, base)
	if err != nil {
		return err
	}
	defer other.remove()
	return p.compare(ctx, here, other)
}
