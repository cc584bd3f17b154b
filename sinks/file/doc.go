// Package file implements the sinks that write files: csv and parquet (one table each for latents, laws, events and triggers), jsonl (one file of records),
// geff (a graph of tracks) and trackmate (the XML of Fiji's TrackMate).
//
// A message passes four layers. columnar (for the tables) converts it to rows; table names the columns and stores a row. recording decides when files end and
// begin, and refuses messages while the disk fails. rotation numbers the files and deletes old files. output buffers one file in memory and offers unwritten
// bytes to the disk again, from the byte where it stopped.
//
// An accepted message is in the files once and complete, or the final error reports how many are lost. A format that is readable only when complete keeps the
// suffix of a partial file (internal/kit/system) until then. A later run handles the files of a killed one: recording_adopt.go. A new kind of table is a type
// with a columnar whose write adds a row.
package file
