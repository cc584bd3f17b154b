// Package sinks shows the world what a stream does: messages on NATS, lines and tables in files, a live status on the terminal, metrics. It also
// defines how messages look outside the process, and reads them back.
package sinks
