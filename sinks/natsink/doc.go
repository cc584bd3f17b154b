// Package natsink is the sink that publishes a stream on NATS, keeps what is to be kept in JetStream, and answers the stream's commands.
// docs/reference/messages.md has the subjects and docs/reference/commands.md the commands.
//
// Sink (sink.go) publishes live, and samples latents for pages (sampler.go). With durability, durable (durable.go) first appends the records to a
// spool and delivers them from there, each once and in order. Bucket (bucket*.go) keeps a stream's configuration and law in a key-value bucket.
//
// endpoints (endpoints.go, reply.go, discovery.go) take requests and reply to inboxes alone: docs/reference/security.md says why. They ask a responder
// while the stream runs, and a Service, which outlives its runs, while it is stopped. capture.go looks for JetStream streams that would
// confirm commands in the program's place.
//
// No goroutine of the frame path waits for a server: Write returns latent.Undelivered, or appends to the spool.
package natsink
