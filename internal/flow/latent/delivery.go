package latent

import "fmt"

// Undelivered reports that a sink could not deliver a message now, for example while a server is away. The sink continues. In mode latest the runner drops and
// counts the message; in mode lossless it retries. The text is the text of Cause.
type Undelivered struct{ Cause error }

func (u Undelivered) Error() string { return u.Cause.Error() }

// NotTaken reports that a device did not accept Count triggers, from this Write or from earlier ones. The runner counts them and retries none, because a late
// trigger is useless. The text is the text of Cause.
type NotTaken struct {
	Count int
	Cause error
}

func (n NotTaken) Error() string { return n.Cause.Error() }

// Unwrap returns the cause.
func (n NotTaken) Unwrap() error { return n.Cause }

// CutShort reports that a sink omitted positions from a message that exceeded the server's limit, and delivered the rest. The runner counts it.
type CutShort struct{ Places, Bytes int }

func (c CutShort) Error() string {
	return fmt.Sprintf("the NATS server accepts %d bytes per message: the %d least certain positions are left out: raise its max_payload, or lower objects.max", c.Bytes, c.Places)
}
