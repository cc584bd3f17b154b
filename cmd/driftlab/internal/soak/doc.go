// Package soak runs the program for minutes or hours under seeded faults and audits its results: streams of every live kind
// in several processes, on the embedded server and on a separate one. make soak runs it; docs/explanation/reliability.md has
// the guarantees and the last account.
//
// command.go has the run, rig.go its processes, and plan.go and faults.go the faults and their times. Every other file is a part of the rig or of the audit.
package soak
