// Package cluster measures a site of many workers while parts of it are killed, frozen and cut off: nats-servers and workers are processes on this machine,
// the workers reach the servers through proxies that can be cut.
//
//	command.go   driftlab bench cluster: flags, which study
//	trials.go    the faults, one a trial, chosen and timed by the seed
//	fault.go     what each fault does, and how it is healed
//	lab.go       the whole of it: servers, workers, film, books
//	servers.go   nats-servers, each this program again; serve.go is that process
//	workers.go   workers, each this program again
//	proxy.go     the way between the two, which can be cut
//	film.go      the same simulated film on every stream, kept by JetStream
//	book.go      what is kept of a stream's results: every frame once, in order, epochs
//	holders.go   who said to run what, at which epoch
//	law.go       the laws beside that of an unbroken run
//	findings.go  what is printed
//	join.go      a worker comes, one goes; nothing happens for long; frames against workers
//	load.go      many workers that only hold leases and announce themselves: where that breaks
package cluster
