package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"driftscope/internal/kit/system"
)

// recorded holds the budgets of tests and the coverage of each package.
type recorded struct {
	seconds map[name]float64
	cover   map[string]float64 // per cent
	binds   bool               // a test beyond its budget fails
}

// usual is the budget of a test that is not listed, in seconds; the list has the tests that take more than half of it.
const usual = 10

func (k recorded) budget(n name) float64 {
	if s, listed := k.seconds[n]; listed {
		return s
	}
	return usual
}

// maxRecorded is the largest size of the file.
const maxRecorded = 1 << 20

// readRecorded reads lines: "test PACKAGE TEST SECONDS" or "covered PACKAGE PERCENT".
func readRecorded(path string) (recorded, error) {
	k := recorded{seconds: map[name]float64{}, cover: map[string]float64{}}
	data, err := system.ReadBounded(path, maxRecorded)
	if err != nil {
		return k, err
	}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		var n name
		var v float64
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscanf(line, "test %s %s %g", &n.pkg, &n.test, &v); err == nil {
			k.seconds[n] = v
		} else if _, err := fmt.Sscanf(line, "covered %s %g", &n.pkg, &v); err == nil {
			k.cover[n.pkg] = v
		} else {
			return k, fmt.Errorf("%s:%d: found %q, expected test PACKAGE TEST SECONDS or covered PACKAGE PERCENT: make recorded writes it anew", path, number, line)
		}
	}
	return k, nil
}

// record writes the file. It lists each test that took long with twice its time, rounded up to ten seconds.
func (r *report) record(path string) error {
	if err := r.verdict(recorded{}); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "# Written by make recorded: budgets of long tests in seconds, twice the measured time, and the share of each package that its own tests cover.")
	var lines []string
	for n, took := range r.took {
		if !strings.Contains(n.test, "/") && took > usual/2 {
			lines = append(lines, fmt.Sprintf("test %s %s %.0f", n.pkg, n.test, math.Ceil(2*took/10)*10))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(r.cover)) {
		lines = append(lines, fmt.Sprintf("covered %s %.1f", pkg, r.cover[pkg]))
	}
	slices.Sort(lines)
	fmt.Fprintln(&b, strings.Join(lines, "\n"))
	if err := system.WriteFile(path, b.Bytes()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(os.Stdout, "%s has %d lines\n", path, len(lines))
	return nil
}
