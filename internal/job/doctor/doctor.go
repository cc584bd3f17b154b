// Package doctor checks the computer for driftscope's needs, and names the command that fixes each problem.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"driftscope/internal/kit/console"
)

// Grade is the severity of a finding for a run.
type Grade string

// The grades.
const (
	Good Grade = "good"
	Note Grade = "note" // worth knowing; runs work without it
	Bad  Grade = "bad"  // runs need it and it fails
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`          // cpu, build, codecs, cameras, ports, folders, dashboard
	Grade Grade  `json:"grade"`          //
	Found string `json:"found"`          // a sentence
	Mend  string `json:"mend,omitempty"` // a command; empty if nothing needs to be done
	Page  string `json:"page,omitempty"` // page of the documentation, as a path in the repository
}

// Report is the output of --json.
type Report struct {
	Good     bool      `json:"good"` // no finding is bad
	Findings []Finding `json:"findings"`
}

// Command is the sub-command.
type Command struct {
	JSON bool   `name:"json" help:"Print one JSON object."`
	Dir  string `default:"." help:"Folder to check, for results or models." placeholder:"DIR" type:"path"`
}

// errBad ends the command with status 1; the findings have been printed.
var errBad = errors.New("doctor: runs will fail: the lines marked bad say how to fix it")

// Run makes the checks and prints the findings. It returns an error if one is bad.
func (c *Command) Run(ctx context.Context) error {
	r := examine(ctx, here(c.Dir))
	if err := c.print(os.Stdout, r); err != nil {
		return err
	}
	if !r.Good {
		return errBad
	}
	return nil
}

func (c *Command) print(w io.Writer, r Report) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(w, "%-4s  %-9s  %s\n", f.Grade, f.Check, f.Found); err != nil {
			return err
		}
		if f.Mend != "" {
			fmt.Fprintf(w, "                   -> %s\n", f.Mend)
		}
		if f.Page != "" && f.Grade != Good {
			fmt.Fprintf(w, "                   see %s\n", console.Located(f.Page))
		}
	}
	if r.Good {
		_, err := fmt.Fprintln(w, "everything is ready: try driftscope demo")
		return err
	}
	return nil
}

// machine holds the paths, ports and folders that the checks use; tests use others.
type machine struct {
	devices string   // folder of camera devices: /dev
	sys     string   // folder of their properties: /sys/class/video4linux
	proc    string   // to find the process that uses a port: /proc
	ports   []port   // ports of a run
	folders []folder // folders to which runs write
	network bool     // look for cameras on the network, too
}

// here returns the paths of this computer.
func here(dir string) machine {
	return machine{
		devices: "/dev", sys: "/sys/class/video4linux", proc: "/proc", network: true,
		ports: runPorts(), folders: runFolders(dir),
	}
}

// examine makes every check, in the order of a beginner's first steps.
func examine(ctx context.Context, m machine) Report {
	r := Report{Good: true}
	for _, check := range []func(context.Context, machine) []Finding{cpus, codecs, cameras, ports, folders, dashboard} {
		r.Findings = append(r.Findings, check(ctx, m)...)
	}
	for _, f := range r.Findings {
		r.Good = r.Good && f.Grade != Bad
	}
	return r
}
