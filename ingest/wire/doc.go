// Package wire defines how frames travel over NATS: a picture's bytes in one or more messages, whose headers describe the
// frame fully. docs/reference/frames.md is the reference for publishers.
//
// A publisher's messages keep their order on a subject, so at most one frame is incomplete, and the memory of one frame is enough. Messages are untrusted.
// Contradictory messages lose only their frame.
package wire
