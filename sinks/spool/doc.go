// Package spool is a queue of records on disk, in a folder of its own: appended at the end, read from anywhere, forgotten from the beginning.
// It keeps what a NATS server has not confirmed yet, over the end of the program too.
//
// The folder holds segments, which are named by number and deleted once all of them is forgotten, the file lock, which one process holds, and
// two copies of the position of the oldest record not forgotten. The position is a hint: it is not synced, and where it is older than the
// truth the reader knows by their identity which records were sent. A crash of the program loses no record. Damage loses the records that it
// touches and no others: each has a checksum of its bytes and its place, and Read passes over what is not whole, and says how much that was.
//
// Records of earlier releases, whose checksums leave the place out, are read too. A change of the form has to read both.
package spool
