package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action     string
	Time       time.Time
	Package    string
	ImportPath string // of a build
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// name is a test of a package, as in the list of budgets, or the package alone.
type name struct{ pkg, test string }

func (n name) String() string { return strings.TrimSuffix(n.pkg+" "+n.test, " ") }

// report holds the results of a run so far.
type report struct {
	out    io.Writer
	said   map[name][]string // output of running tests
	took   map[name]float64  // durations of finished tests, s
	began  map[name]moment   // start times of running tests
	slow   map[name]float64  // factors by which a busy machine may have slowed the finished tests
	crowd  crowd
	cover  map[string]float64
	failed []string
	ended  int // packages
}

func newReport(out io.Writer) *report {
	return &report{out: out, said: map[name][]string{}, took: map[name]float64{}, began: map[name]moment{}, slow: map[name]float64{}, crowd: crowd{load: load}, cover: map[string]float64{}}
}

// maxLine is the longest line of go test's output.
const maxLine = 16 << 20

// read processes all events.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			r.words(lines.Text())
			continue
		}
		r.take(e)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if r.ended == 0 {
		return errors.New("no package was tested: pipe go test -json into it")
	}
	return nil
}

// merged matches a line of go tool covdata percent: the coverage of a package by several runs.
var merged = regexp.MustCompile(`^\s*driftscope/(\S+)\s+coverage: ([0-9.]+)% of statements`)

// words processes a line that is not an event: the coverage by several runs, or text of the go command.
func (r *report) words(line string) {
	if m := merged.FindStringSubmatch(line); m != nil {
		r.cover[m[1]], _ = strconv.ParseFloat(m[2], 64) // digits and dots
		return
	}
	fmt.Fprintln(r.out, line)
}

var covered = regexp.MustCompile(`coverage: ([0-9.]+)% of statements`)

// take processes one event.
func (r *report) take(e event) {
	n := name{strings.TrimPrefix(e.Package, "driftscope/"), e.Test}
	r.crowd.pass(e.Time)
	switch e.Action {
	case "run":
		r.began[n] = r.crowd.now
	case "output":
		r.said[n] = append(r.said[n], e.Output)
		if m := covered.FindStringSubmatch(e.Output); m != nil && e.Test == "" {
			r.cover[n.pkg], _ = strconv.ParseFloat(m[1], 64) // digits and dots
		}
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.failed = append(r.failed, e.ImportPath+" does not build")
	case "pass", "skip":
		r.end(n, e)
	case "fail":
		r.failed = append(r.failed, n.String())
		for _, line := range r.said[n] {
			fmt.Fprint(r.out, line)
		}
		r.end(n, e)
	}
}

// end processes the end of a test or, without a test name, of a package.
func (r *report) end(n name, e event) {
	if e.Action != "skip" {
		r.took[n], r.slow[n] = e.Elapsed, r.crowd.since(r.began[n])
	}
	delete(r.said, n)
	delete(r.began, n)
	if n.test != "" {
		return
	}
	r.ended++
	delete(r.took, n)
	if e.Action == "skip" { // no tests
		return
	}
	fmt.Fprintf(r.out, "%-4s  %-34s %7.1f s", map[string]string{"pass": "ok", "fail": "FAIL"}[e.Action], n.pkg, e.Elapsed)
	if c, known := r.cover[n.pkg]; known {
		fmt.Fprintf(r.out, "  %5.1f %% covered", c)
	}
	fmt.Fprintln(r.out)
}

// slack is the factor by which a quiet machine may be slower than the machine that recorded the budgets, because CI has other disks and cores.
const slack = 2

// sum lists the longest tests and the tests over their budgets. If budgets bind, a test beyond slack times its budget fails. Subtests count as part of their
// tests.
func (r *report) sum(known recorded, longest int) {
	var whole []name
	for n := range r.took {
		if !strings.Contains(n.test, "/") {
			whole = append(whole, n)
		}
	}
	slices.SortFunc(whole, func(a, b name) int {
		return cmp.Or(cmp.Compare(r.took[b], r.took[a]), cmp.Compare(a.String(), b.String()))
	})
	fmt.Fprintf(r.out, "\n%d tests; the longest, with their budgets in seconds:\n", len(whole))
	for i, n := range whole {
		took, budget := r.took[n], known.budget(n)
		if i < longest {
			fmt.Fprintf(r.out, "%7.1f of %4.0f  %s\n", took, budget, n)
		} else if took > budget {
			fmt.Fprintf(r.out, "%7.1f of %4.0f  %s: over its budget\n", took, budget, n)
		}
		if slow := r.slow[n]; known.binds && took > slack*budget*slow {
			r.failed = append(r.failed, fmt.Sprintf("%s: %.1f s of a budget of %.0f s, on a machine that other work slowed by %.1f: make it cheaper, or leave it to make test-long", n, took, budget, slow))
		}
	}
}

// fell is the allowed loss of coverage, percentage points, because coverage depends slightly on the timing.
const fell = 2

// verdict returns an error if a test failed or the coverage fell.
func (r *report) verdict(known recorded) error {
	for pkg, was := range known.cover {
		if now, there := r.cover[pkg]; there && now < was-fell {
			r.failed = append(r.failed, fmt.Sprintf("%s: %.1f %% covered, %.1f %% before: test the new code, or record the coverage with make recorded", pkg, now, was))
		}
	}
	if len(r.failed) == 0 {
		return nil
	}
	slices.Sort(r.failed)
	return fmt.Errorf("%d failed:\n  %s", len(r.failed), strings.Join(r.failed, "\n  "))
}
