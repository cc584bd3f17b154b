package latent

import "fmt"

// Undelivered is the error of a message that a sink could not deliver now, as while a server is away, though the sink goes on. A message that may be lost is
// dropped and counted, another is tried again. Its text is the cause's.
type Undelivered struct{ Cause error }

func (u Undelivered) Error() string { return u.Cause.Error() }

// NotTaken is the error with which a sink says that a device did not take so many triggers, of this Write or of earlier ones. They are counted, and none is
// tried again: late they are worth nothing. Its text is the cause's.
type NotTaken struct {
	Count int
	Cause error
}

func (n NotTaken) Error() string { return n.Cause.Error() }

// Unwrap is the cause.
func (n NotTaken) Unwrap() error { return n.Cause }

// CutShort is the error of a message that was delivered without the places that are left out of it, because its server takes no larger one. It is counted.
type CutShort struct{ Places, Bytes int }

func (c CutShort) Error() string {
	return fmt.Sprintf("the NATS server takes %d bytes a message: %d places, the least certain, are left out of one: raise its max_payload, or lower objects.max", c.Bytes, c.Places)
}
