// Testreport reads what go test -json prints, and says of every package how long it took and how much of it was covered, of every failed test what it
// said, and at the end which tests were the longest and which took more than their budget.
//
//	go test -json -cover ./... | go run ./cmd/driftlab/internal/testreport -recorded cmd/driftlab/internal/testreport/recorded.txt
//
// Its exit status is 1 where a test or a package failed, where coverage fell, or, with -budgets, where a test took longer than its budget. Other processes make tests slower:
// a budget is multiplied by half of the processes that wanted each processor on average while the test ran, once that is more than one (crowd.go).
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	path := flag.String("recorded", "", "the file with budgets and coverage; none unless given")
	budgets := flag.Bool("budgets", false, "hold tests to their budgets, and do not compare coverage: a part of the tests ran, so that less is covered")
	write := flag.Bool("record", false, "write that file anew from this run")
	longest := flag.Int("longest", 15, "how many of the longest tests are listed")
	flag.Parse()
	if err := run(*path, *write, *budgets, *longest); err != nil {
		fmt.Fprintln(os.Stderr, "testreport: "+err.Error())
		os.Exit(1)
	}
}

func run(path string, write, budgets bool, longest int) error {
	known := recorded{}
	if path != "" && !write {
		var err error
		if known, err = readRecorded(path); err != nil {
			return err
		}
	}
	if budgets {
		known.cover, known.binds = nil, true
	}
	r := newReport(os.Stdout) // line by line: people wait for it
	if err := r.read(os.Stdin); err != nil {
		return err
	}
	r.sum(known, longest)
	if write {
		return r.record(path)
	}
	return r.verdict(known)
}
