// Package work implements a worker of a site: it claims desired streams by leases, as many as its cores allow, and runs them.
//
//	command.go        driftscope work
//	worker.go         Worker: watches the site and acts
//	step.go           one look: which streams to claim, to give up, to hand over
//	run.go            one stream under its lease, and its end
//	configuration.go  the configuration that runs, with secrets
//	told.go           the worker's health
//
// There is no leader. Every worker computes the same plan from the same records (site.Plan) and does its own part of it. Which worker runs a stream is decided by its
// lease alone (site.Held).
package work
