// Package natsource receives and sends frames over NATS: the source nats and the Publisher of driftscope publish. ingest/wire has their form and
// docs/reference/frames.md describes it.
//
// Frames may be anybody's: every message is checked before memory is taken for it, and what is wrong costs that frame alone, under a cause. The
// publisher's numbers say what was missed; they are counted from 0 at every Open. Where JetStream keeps the frames
// (Durable, DurablePublisher) the source goes on behind any of them.
package natsource
