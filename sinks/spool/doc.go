// Package spool implements a queue of records on disk, in its own folder. Records are appended at the end, read anywhere, and removed from the beginning. The
// queue keeps records that a NATS server has not confirmed, across restarts of the program.
//
// The folder contains numbered segments, the file lock, which one process locks, and two copies of the position of the oldest remaining record. A segment is
// deleted once all its records are forgotten. The position is only a hint and is not synced. If it is too old, the reader recognises sent records by their
// identity. A crash of the program loses no record. Damage loses only the records that it touches, because each has a checksum of its bytes and its position.
// Read skips damaged bytes and counts them.
//
// Read also accepts records of earlier releases, whose checksums omit the position. The reader of a new format must accept both.
package spool
