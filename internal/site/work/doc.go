// Package work is a worker of a site: it takes the streams that people desire, as many as its cores allow, by leases, and runs them.
//
//	command.go        driftscope work
//	worker.go         Worker: what it sees of the site, what it does about it
//	step.go           one look: which streams to claim, to give up, to hand over
//	run.go            one stream under its lease, and what becomes of it
//	configuration.go  what is run of what is desired, with secrets
//	told.go           what the worker says of itself
//
// Nobody leads. Every worker computes the same plan from the same records (site.Plan) and does its own part of it; who runs a stream is decided by its
// lease alone (site.Held).
package work
