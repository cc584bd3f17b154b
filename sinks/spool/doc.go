// Package spool is a queue of records on disk, in a folder of its own: appended at the end, read from anywhere, forgotten from the beginning.
// It keeps what a NATS server has not confirmed yet, over the end of the program too.
//
// The folder holds segments, which are named by number and deleted once all of them is forgotten, the file lock, which one process holds, and
// the file first, the position of the oldest record not forgotten. first is a hint: it is not synced, and without it records are sent twice,
// which the reader knows by their identity. A crash of the program loses no record. A crash of the machine may tear the last records of a
// segment; they are cut off when the spool is opened, and counted in Torn.
//
// Earlier releases wrote the same form: a change of it has to read the old one.
package spool
