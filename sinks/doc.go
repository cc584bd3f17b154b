// Package sinks makes the sinks that a configuration names. kinds.go lists them. A sink takes every message of a stream, and copies the
// parts it keeps. Sinks for files, NATS and wires have packages of their own; kinds passes each the parts of Env that it uses. The terminal
// and the metrics of the whole process are here.
//
// Package message holds the shared parts: the records, their JSON, and the error for an undelivered message.
package sinks

//go:generate go run driftscope/sinks/schemas -root ..
