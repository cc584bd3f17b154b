// Testreport reads the output of go test -json. It prints each package's duration and coverage and the output of failed tests, and at the end the longest
// tests and the tests over budget.
//
//	go test -json -cover ./... | go run ./cmd/driftlab/internal/testreport -recorded cmd/driftlab/internal/testreport/recorded.txt
//
// With -long it prints the arguments of go test that run only the long tests (long.go).
//
// Its exit status is 1 if a test or a package failed, if coverage fell, or, with -budgets, if a test exceeded its budget.
// Other processes slow tests down: a budget is multiplied by half of the mean number of processes per processor during the
// test, if that is more than one (crowd.go).
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	path := flag.String("recorded", "", "file with budgets and coverage (default: none)")
	budgets := flag.Bool("budgets", false, "check the budgets of tests and not coverage: only a part of the tests ran, which covers less")
	write := flag.Bool("record", false, "write that file from this run")
	longest := flag.Int("longest", 15, "number of the longest tests in the list")
	long := flag.Bool("long", false, "print the arguments of go test for the long tests under this folder, and read nothing")
	flag.Parse()
	if *long {
		arguments, err := arguments(".")
		if err != nil {
			fmt.Fprintln(os.Stderr, "testreport: "+err.Error())
			os.Exit(1)
		}
		fmt.Println(strings.Join(arguments, " "))
		return
	}
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
	r := newReport(os.Stdout) // line by line, because users wait for the output
	if err := r.read(os.Stdin); err != nil {
		return err
	}
	r.sum(known, longest)
	if write {
		return r.record(path)
	}
	return r.verdict(known)
}
