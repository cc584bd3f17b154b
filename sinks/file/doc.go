// Package file has the sinks that write files: csv and parquet, a table each for latents, laws, events and triggers, and jsonl, one file of
// records.
//
// A message comes down through four layers. columnar (for the tables) turns it into rows; table names the columns and holds a row.
// recording decides when files end and begin, and refuses messages while the disk fails. rotation numbers the files and deletes old ones.
// output writes one file through memory: what the disk does not take is offered again from the byte on where it stopped.
//
// A message that was taken is in the files once and whole, or the error at the end says which are lost. A file that cannot be read before
// it is whole has the name of a partial one (internal/kit/system) until then, and a later run deals with what a killed one left:
// recording_adopt.go. A new kind of table is a type with a columnar whose write adds a row.
package file
