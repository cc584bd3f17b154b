// Package batch tracks finished recordings as jobs: one job per film in a JetStream work queue of the site, workers that pull jobs, results in an
// object store, and one record per film in KV.
//
// Work that is done twice is stored once. A job's id is the digest of its film, settings and model, and the queue contains a job only once. A worker first
// stores the result, then creates the record (only the first record is accepted), then acknowledges the job. If a worker dies, the queue delivers its job
// again after ackWait. A film that fails, or kills its worker, is tried attempts times.
//
// A film is tracked by a child process of the worker, as run FILM --out RESULT would. The result contains nothing about the worker, the time or the place
// (reproducible.go), so every worker produces the same bytes.
package batch
