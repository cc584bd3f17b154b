// Package site keeps the records of a site in three key-value buckets: desired streams, live workers, and leases.
//
// Open and Read return a Site, Make makes its resources on a server. Plan computes from the records which worker should run which stream.
// Leases, Claim and Held decide which worker is allowed to.
//
// There is no leader, and no process uses another machine's clock. Two workers never hold one lease (held.go), and epochs strictly increase
// (epoch.go).
//
// A removed stream has a delete marker. A stream whose bucket vanished has none: it continues on its worker (Snapshot.Vanished) until a user
// adds it again or removes it.
package site
