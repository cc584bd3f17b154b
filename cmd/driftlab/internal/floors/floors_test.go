package floors

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFloorsFile: the file has a floor for every group. An invalid line is refused with its number.
func TestFloorsFile(t *testing.T) {
	floors, err := readFloors("floors.txt")
	if err != nil || len(floors) < 15 {
		t.Fatalf("%d floors, %v", len(floors), err)
	}
	for _, g := range groups() {
		found := false
		for _, f := range floors {
			found = found || f.name == g.name
		}
		if !found {
			t.Errorf("%s has no floor", g.name)
		}
	}
	for text, want := range map[string]string{
		"a >= 1 what it is\n\n# words\nb <= 2": "", "a >= 1\nb = 2": "2: found", "a >= x": "1: found", "a <= -1": "1: found", "a >= 1\na >= 2": "2: a already has a floor",
	} {
		path := filepath.Join(t.TempDir(), "floors.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readFloors(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// fake returns a group whose figure takes the given values in turn and then repeats the last one.
func fake(name string, values ...float64) (group, *int) {
	n := new(int)
	return group{name, func(context.Context, *build) (map[string]sample, error) {
		v := values[min(*n, len(values)-1)]
		if *n++; math.IsNaN(v) {
			return nil, errors.New("it failed")
		}
		return map[string]sample{name: {v, 2}}, nil
	}}, n
}

var known = []floor{{name: "speed", what: "of light", bound: 5}, {name: "weight", most: true, bound: 7}, {name: "absent", bound: 1}}

// TestHold: a figure beyond its floor is measured again, and fails if it stays there. One busy moment or one failed measurement causes no failure.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name, figure string
		values       []float64
		want         string
		times        int
	}{
		{"above", "speed", []float64{11}, "", 2},
		{"below", "speed", []float64{9}, "beyond the floor: speed", 2 + again},
		{"a moment", "speed", []float64{9, 9, 11}, "", 3},
		{"light", "weight", []float64{13}, "", 2},
		{"heavy", "weight", []float64{15}, "beyond the floor: weight", 2 + again},
		{"once", "speed", []float64{math.NaN(), 11}, "", 3},
		{"twice", "speed", []float64{math.NaN(), math.NaN()}, "speed: it failed", 2},
		{"no floor", "colour", []float64{1}, "no colour", 1},
	} {
		g, n := fake(c.figure, c.values...)
		var out bytes.Buffer
		p := plan{groups: []group{g}, floors: known, rounds: 2, out: &out}
		err := p.hold(t.Context(), nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || *n != c.times {
			t.Errorf("%s: measured %d times, expected %d: %v", c.name, *n, c.times, err)
		}
		if beyond := strings.Contains(out.String(), "BEYOND"); beyond != strings.HasPrefix(c.want, "beyond") {
			t.Errorf("%s:\n%s", c.name, &out)
		}
	}
}

// TestCompare: the interval contains the ratio of two programs, and a figure that the base lacks does not stop the others.
func TestCompare(t *testing.T) {
	here, base := &build{}, &build{}
	n := 0.0
	speed := group{"speed", func(_ context.Context, b *build) (map[string]sample, error) {
		if n++; b == base {
			return map[string]sample{"speed": {100 + n, 1}}, nil
		}
		return map[string]sample{"speed": {50 + n/2, 1}, "weight": {3, 1}}, nil
	}}
	fails := group{"absent", func(_ context.Context, b *build) (map[string]sample, error) {
		if b == base {
			return nil, errors.New("unknown flag")
		}
		return map[string]sample{"absent": {1, 1}}, nil
	}}
	var out bytes.Buffer
	p := plan{groups: []group{fails, speed}, floors: known, rounds: 4, out: &out}
	if err := p.compare(t.Context(), here, base); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.500  0.49", "more is better; of light", "absent          the base lacks it: unknown flag", "weight          the base lacks it"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("expected %q in\n%s", want, &out)
		}
	}
}

// TestInterval: for two rounds, the interval is Student's t of 12.7 standard errors around the geometric mean of 1 and 4.
func TestInterval(t *testing.T) {
	ratio, low, high := interval([]sample{{2, 1}, {8, 1}}, []sample{{2, 1}, {2, 1}})
	if half := 12.706 * math.Log(2); math.Abs(ratio-2) > 1e-9 || math.Abs(math.Log(high/ratio)-half) > 1e-2 || math.Abs(low*high-4) > 1e-6 {
		t.Errorf("%g, %g to %g", ratio, low, high)
	}
}

// TestBenchmark: the fastest run of a Go benchmark counts. A missing benchmark is an error that names it.
func TestBenchmark(t *testing.T) {
	b := &build{tests: t.TempDir()}
	script := "#!/bin/sh\necho goos: linux\necho BenchmarkA/b-2 100 31 ns/op 0 B/op\necho BenchmarkA/b-2 100 29.5 ns/op 0 B/op\n"
	for name, text := range map[string]string{"one": script, "none": "#!/bin/sh\necho PASS\n", "bad": "#!/bin/sh\necho torn\nexit 3\n"} {
		if err := os.WriteFile(b.test(name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if ns, err := b.benchmark(t.Context(), "one", "BenchmarkA/b"); err != nil || ns != 29.5 {
		t.Errorf("%g, %v", ns, err)
	}
	for name, want := range map[string]string{"none": "none has no BenchmarkA", "bad": "torn"} {
		if _, err := b.benchmark(t.Context(), name, "BenchmarkA"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLeft: the free share of the cores lies between fewest and 1, and is 1 if it is unknown.
func TestLeft(t *testing.T) {
	begin := now()
	if spin() <= 0 {
		t.Error("arithmetic took no time")
	}
	if share := left(begin); !(share >= fewest && share <= 1) {
		t.Errorf("%g of the cores are left", share)
	}
	begin.all = math.NaN()
	if share := left(begin); share != 1 {
		t.Errorf("%g of the cores are free if the load is unknown, expected 1", share)
	}
}
