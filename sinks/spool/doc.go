// Package spool is a queue of records on disk, in its own folder: append at the end, read anywhere, forget from the beginning.
// It keeps records that a NATS server has not confirmed, across restarts of the program.
//
// The folder holds numbered segments, the file lock, held by one process, and two copies of the position of the oldest record not forgotten.
// A segment is deleted once all its records are forgotten. The position is a hint and is not synced. If it is too old, the reader recognises
// sent records by their identity. A crash of the program loses no record. Damage loses only the records that it touches: each has a checksum
// of its bytes and its place. Read skips damaged bytes, and counts them.
//
// Read also accepts records of earlier releases, whose checksums omit the place. A new format must read both.
package spool
