// Package natsink publishes a stream on NATS, stores its results in JetStream, and answers its commands. docs/reference/messages.md describes the subjects and
// docs/reference/commands.md the commands.
//
// Sink (sink.go) publishes live, and samples latents for pages (sampler.go). With durability, durable (durable.go) first appends the records to a spool and
// delivers them from there, each once and in order. Bucket (bucket*.go) stores a stream's configuration and law in a key-value bucket.
//
// endpoints (endpoints.go, reply.go, discovery.go) receive requests and reply only to inboxes; docs/reference/security.md gives the reason. They call a
// responder while the stream runs, and a Service, which outlives its runs, while it is stopped. capture.go detects JetStream streams that would confirm
// commands instead of the program.
//
// No goroutine of the frame path waits for a server: Write returns latent.Undelivered, or appends to the spool.
package natsink
