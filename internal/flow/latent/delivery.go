package latent

import "fmt"

// Undelivered reports that a sink could not deliver a message now, for example while a server is away. The sink continues. In mode latest the
// runner drops and counts the message; in mode lossless it tries again. The text is the cause's.
type Undelivered struct{ Cause error }

func (u Undelivered) Error() string { return u.Cause.Error() }

// NotTaken says that a device did not take so many triggers, of this Write or of earlier ones. The runner counts them and tries none again: late they are
// worth nothing. The text is the cause's.
type NotTaken struct {
	Count int
	Cause error
}

func (n NotTaken) Error() string { return n.Cause.Error() }

// Unwrap is the cause.
func (n NotTaken) Unwrap() error { return n.Cause }

// CutShort says that a sink left places out of a message, because its server takes no larger one, and delivered the rest. The runner counts it.
type CutShort struct{ Places, Bytes int }

func (c CutShort) Error() string {
	return fmt.Sprintf("the NATS server accepts %d bytes per message: the %d least certain positions are left out: raise its max_payload, or lower objects.max", c.Bytes, c.Places)
}
