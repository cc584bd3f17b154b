// Package pool implements the command pool: it receives the population records of several streams, pools their laws, and publishes the result as the population
// record of a stream named after the experiment. That stream also has health and events.
//
//	command.go   Command: its flags, and the loop
//	members.go   the streams: which are included, which are left out and why
//	camera.go    a record as a camera's law
//	record.go    the law of all as a record
//	health.go    the experiment as a stream: its state, its cameras, and the time of each camera's last record
//
// Any client may publish messages, so the command counts and skips a message that is not a record of its subject's stream. Nothing is stored. A later
// subscriber gets the law after the next record of any stream.
package pool
