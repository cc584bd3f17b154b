// Package sinks makes the sinks that a configuration names: kinds.go is their list. A sink takes every message of a stream, and copies
// what it keeps. Files, NATS, and what ends in a wire have packages of their own, each made from what it uses of Env; the terminal and the metrics, which other
// programs read of the whole process, are here.
//
// What every sink shares is in message: the records, their JSON, and the error of a message that is not delivered.
package sinks

//go:generate go run driftscope/sinks/schemas -root ..
