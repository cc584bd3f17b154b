// Package lease says who may run a stream: one key a stream in a JetStream key-value bucket whose entries the server forgets after a TTL. Nobody leads.
//
//	bucket.go      Bucket: finds or makes the bucket, makes it again where it was deleted
//	generation.go  which making of the bucket this is, and where its epochs begin
//	watch.go       what is seen of every key, and since when by this process's own clock
//	read.go        what there is, once, without a consumer
//	claim.go       Claim: when a key may be taken, and how
//	held.go        Held: Valid, Lost, Release; the fence
//	renewal.go     renewals
//	write.go       one compare-and-set, which may be sent again
//	record.go      the value: written, read and bounded
//	clock.go       two monotonic clocks
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
//   - it has seen the key's revision stand still for a TTL and Create succeeds: the server has forgotten the key; or
//   - the revision has stood still for two TTLs and an Update of it succeeds: the server forgot to forget (nats-server #3653, #4754); or
//   - the holder itself wrote that it is free; or
//   - it was the holder, has lost the lease, and an Update of its own revision succeeds; or
//   - it has watched the bucket for a TTL and has never seen the key.
//
// The server accepted the holder's last renewal after that call began, and others saw its revision later still. So they wait for longer than the holder
// counts on, and a third of a TTL is left for messages that are on their way. No clock time of any machine takes part: the server's decides when a key is
// forgotten, but nobody uses that sooner than by its own clock. A key that somebody deleted is waited for as if it had vanished.
//
// # Epochs
//
// An epoch is the revision of the claim and the base of the bucket's making. Revisions of one making strictly increase over all keys, so no two claims share
// one. The base is the larger of 64 times the milliseconds from 2025 to the bucket's creation, which the server notes, and of the largest epoch that its maker
// knew, which the bucket's metadata keep. A bucket that is made later so begins beyond all epochs of the one before, unless that took more than 64,000 writes
// a second over its life, or the server's clock was set back and nobody who lived through the deletion made the bucket. The rest Claim refuses: an epoch that is
// not beyond the one the caller found in what its predecessors left. Which making a claim belongs to is certain because the creation time is
// the same when it is asked before and after the claim. Epochs stay below 2^53, so that JSON keeps them exact.
//
// The TTL of a bucket must not be edited while workers run: delete it instead, it is made again.
package lease
