// Package pool implements the command pool: it receives the population records of several streams, pools their laws, and publishes the result as the population record of
// a stream named after the experiment, with health and events as any stream has them.
//
//	command.go   Command: its flags, and the loop
//	members.go   the streams: which are in, which are left out and why
//	camera.go    a record as a camera's law
//	record.go    the law of all as a record
//	health.go    the experiment as a stream: its state, its cameras, and the time of each camera's last record
//
// Any client may publish messages: one that is no record of its subject's stream is counted and skipped. Nothing is stored: a later subscriber gets the
// law with the next record of any stream.
package pool
