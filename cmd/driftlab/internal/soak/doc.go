// Package soak lets the program run for minutes or hours while everything around it fails, and audits what it did: streams of every live kind
// in several processes, on the embedded server and on one of their own, under seeded faults. make soak runs it; docs/explanation/reliability.md has
// what is promised and the last account.
//
// The files: command.go the run, rig.go what runs, plan.go and faults.go what fails and when, the others a part of the rig or of the audit each.
package soak
