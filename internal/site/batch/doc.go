// Package batch tracks finished recordings as jobs: a job a film in a JetStream work queue of the site, workers that pull them, results in an
// object store, and a record a film in KV.
//
// Work that is done twice is stored once. A job's id is the digest of its film, settings and model, and the queue holds a job once. A worker stores the result
// first, then creates the record, of which the first wins, then acknowledges. A worker that dies stores nothing: the queue delivers its job again after
// ackWait. A film that fails, or ends its worker, is tried attempts times.
//
// A film is tracked by a child process of the worker, as run FILM --out RESULT would. The result contains nothing about the worker, the time or the place
// (reproducible.go), so it has the same bytes wherever it was made.
package batch
