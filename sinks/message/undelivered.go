package message

// Undelivered is the error of a message that a sink could not deliver, though the sink goes on: pipeline.Sink says how such an error is
// counted. Its text is the cause's.
type Undelivered struct{ Cause error }

func (u Undelivered) Error() string { return u.Cause.Error() }

// Undelivered says that only this message is lost: the runner asks for this method.
func (Undelivered) Undelivered() bool { return true }
