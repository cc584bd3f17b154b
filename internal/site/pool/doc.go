// Package pool is the command pool: it hears the population records of several streams, makes one law of theirs, and publishes it as the population record of
// a stream named after the experiment, with health and events as any stream has them.
//
//	command.go   Command: its flags, and the loop
//	members.go   the streams that are heard: who is in, who is left out and why
//	camera.go    a record as a camera's law
//	record.go    the law of all as a record
//	health.go    the experiment as a stream: its state, its cameras, and when each was heard
//
// Messages may come from anybody: what is no record of the stream whose subject it has is counted and left out. Nothing is kept: who subscribes later has the
// law with the next record of any stream.
package pool
