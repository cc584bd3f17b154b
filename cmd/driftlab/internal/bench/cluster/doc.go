// Package cluster measures a site of many workers while parts of it are killed, frozen and cut off. nats-servers and workers
// are processes on this machine; workers reach the servers through proxies that can be cut. lab.go owns servers (servers.go,
// serve.go), workers (workers.go), proxies (proxy.go), the film on every stream (film.go) and the books of results (book.go).
//
// command.go has the flags of driftlab bench cluster. trials.go chooses and times one fault per trial by the seed, fault.go
// strikes and heals. book.go requires every frame once and in order; holders.go records the process and epoch of each stream;
// law.go compares with an unbroken run. findings.go prints. join.go adds and removes workers, waits, and measures frames
// against workers. load.go finds the limit of workers that only hold leases and announce themselves.
package cluster
