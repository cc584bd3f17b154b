// Testreport reads what go test -json prints, and says of every package how long it took and how much of it was covered, of every failed test what it
// said, and at the end which tests were the longest and which took more than their budget.
//
//	go test -json -cover ./... | go run ./cmd/driftlab/internal/testreport -recorded cmd/driftlab/internal/testreport/recorded.txt
//
// Its exit status is 1 where a test or a package failed, or where coverage fell. A budget is told, never held: machines differ.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	path := flag.String("recorded", "", "the file with budgets and coverage; none unless given")
	write := flag.Bool("record", false, "write that file anew from this run")
	longest := flag.Int("longest", 15, "how many of the longest tests are listed")
	flag.Parse()
	if err := run(*path, *write, *longest); err != nil {
		fmt.Fprintln(os.Stderr, "testreport: "+err.Error())
		os.Exit(1)
	}
}

func run(path string, write bool, longest int) error {
	known := recorded{}
	if path != "" && !write {
		var err error
		if known, err = readRecorded(path); err != nil {
			return err
		}
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
