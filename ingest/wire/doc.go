// Package wire is the form in which frames travel over NATS: a picture's bytes in one message or in several, each with headers that
// say all there is to know of the frame. docs/reference/frames.md tells it to those who publish.
//
// A publisher's messages keep their order on a subject, so at most one frame is ever incomplete: memory is that of one frame, which
// is bounded. No number in a message is trusted, and messages that contradict each other lose their frame, not the stream.
package wire
