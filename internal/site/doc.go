// Package site keeps the records of a site in three key-value buckets: desired streams, live workers, and leases. A lease decides which worker may run
// a stream. A plan, computed from the records alone, says which worker should. There is no leader.
//
//	site.go      Open, Read, Edit and what they open
//	make.go      Make, which makes a site's resources on its server
//	book.go      one bucket of records: its records, its invalid values, its disappearance
//	stream.go    desired streams: read, checked, added, replaced, moved, removed
//	worker.go    workers: read, announced, retired
//	snapshot.go  all records at one moment
//	plan.go      Plan: which worker should run which stream
//	leases.go    Leases: the bucket of leases as this process sees it
//	sight.go     the last sight of every key, and its time by this process's own clock
//	claim.go     Claim: when a key may be taken, and how
//	held.go      Held: Valid, Lost, Release; renewals and the fence
//	write.go     one compare-and-set, which may be sent again
//	record.go    the value of a lease: written, read and bounded
//	epoch.go     the identity of the bucket, and its first epoch
//	clock.go     two monotonic clocks
//
// A removed stream has a delete marker. A stream whose bucket vanished has none: it was not removed, and continues where it
// runs (Snapshot.Vanished) until it is added again, or removed.
//
// No process uses another machine's clock: a worker counts as live while its record changes, by the observer's clock.
//
// # Who holds
//
// The results of compare-and-set decide, never a Get: replicas answer late. Every write expects the revision that the writer knows (0: no key). A write whose
// answer did not come is sent again with the same Nats-Msg-Id: the server answers as before, or refuses it for a revision, and the message of that revision has
// the id where it is this write. Per-key TTLs are not used: an Update drops
// them (nats.go #1994).
//
// # Two never hold one
//
// A holder counts a lease as valid for two thirds of a TTL from the beginning of the last renewal that succeeded, by its own monotonic clock, which also
// counts a suspended machine. After that it is lost for good, whatever the server says later.
//
// Another takes a key only when, by its own monotonic clock,
//   - it has seen the key's revision stand still for a TTL, and an Update of that revision succeeds, or a Create where the server has forgotten the key; or
//   - the holder itself wrote that it is free; or
//   - it was the holder, has lost the lease, and an Update of its own revision succeeds; or
//   - it has watched the bucket for a TTL and has never seen the key.
//
// The server accepted the holder's last renewal after that call began, and others saw its revision later still. So they wait longer than the holder
// counts on, and a third of a TTL is left for messages in flight. No machine's clock time matters: the server's clock decides when a key is
// forgotten, but no process acts on that sooner than by its own clock. A deleted key is treated like a vanished one.
//
// # Epochs
//
// An epoch is the revision of the claim and the base of the bucket's making. Revisions of one making strictly increase over all keys, so no two claims share
// one. The base is the larger of 64 times the milliseconds from 2025 to the bucket's creation, which the server notes, and of the largest epoch that its maker
// knew, which the bucket's metadata keep. So a bucket made later begins beyond all epochs of the one before, unless that took more than 64,000 writes
// a second over its life, or the server's clock was set back and a process started after the deletion made the bucket. Claim refuses the rest: an epoch that is
// not beyond the one the caller found in its predecessors' data. The bucket of a claim is certain because the creation time is
// the same before and after the claim. Epochs stay below 2^53, so that JSON keeps them exact.
//
// Do not edit the TTL of a bucket while workers run. Delete the bucket instead: they make it again.
package site
