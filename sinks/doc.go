// Package sinks makes the sinks that a configuration names. kinds.go lists them. A sink receives every message of a stream, and copies the parts that it keeps.
// Sinks for files, NATS and wires have their own packages; kinds passes to each the parts of Env that it uses. This package contains the terminal sink and the
// metrics of the whole process.
//
// Package message defines the parts that the sinks share: the records, their JSON, and the error for an undelivered message.
package sinks

//go:generate go run driftscope/sinks/schemas -root ..
