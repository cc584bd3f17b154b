// Package natsource sends and receives frames over NATS: the source nats and the Publisher of driftscope publish. ingest/wire
// defines the format, docs/reference/frames.md describes it.
//
// Senders are untrusted: every message is checked before memory is allocated, and an error skips only its frame, with a cause. The publisher's frame numbers
// reveal lost frames. The source counts its own frames from 0 at every Open. If JetStream keeps the frames (Durable, DurablePublisher), the source can resume
// after any frame.
package natsource
