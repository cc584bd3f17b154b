// Package site keeps the records of a site in three key-value buckets: which streams should run, which workers are there, and who runs what.
//
//	site.go      Open, Look, Read, Edit and what they open
//	make.go      Make, which makes what a site keeps on its server
//	book.go      one watched bucket: what it holds, what of it is no record, when it vanishes
//	stream.go    desired streams: read, checked, added, replaced, moved, removed
//	worker.go    workers: read, announced, retired
//	snapshot.go  all records at one moment, and the plan for them
//
// Leases are internal/site/lease's. A stream that somebody removed has a delete marker. One whose bucket vanished has none: it was not removed, and goes on where it
// runs (Snapshot.Vanished) until it is added again, or removed.
//
// Whether a worker is there nobody decides by another machine's clock: its record counts while it changes, by the clock of who looks.
package site
