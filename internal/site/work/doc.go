// Package work implements a worker of a site. It claims the leases of desired streams, within the limit of its cores, and runs the streams.
//
//	command.go        driftscope work
//	worker.go         Worker: watches the site and acts
//	step.go           one step: which streams to claim, to give up, to hand over
//	run.go            one stream under its lease, and its end
//	configuration.go  the configuration that runs, with secrets
//	told.go           the worker's health
//
// There is no leader. Every worker computes the same plan from the same records (site.Plan) and does its own part of it. Only the lease of a stream
// decides which worker runs it (site.Held).
package work
