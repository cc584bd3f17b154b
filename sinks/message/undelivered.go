package message

// Undelivered is the error of a message that a sink could not deliver, though the sink goes on: pipeline.Sink says how such an error is
// counted. Its text is the cause's.
type Undelivered struct{ Cause error }

func (u Undelivered) Error() string { return u.Cause.Error() }

// Undelivered says that only this message is lost: the runner asks for this method.
func (Undelivered) Undelivered() bool { return true }

// Lost is the error with which a sink tells that messages were lost which it had taken, or the one at hand: the sink goes on, and nothing is tried
// again. Its text is the cause's.
type Lost struct {
	Count int
	Cause error
}

func (l Lost) Error() string { return l.Cause.Error() }

// Unwrap is the cause.
func (l Lost) Unwrap() error { return l.Cause }

// Lost says how many messages are lost: the runner asks for this method.
func (l Lost) Lost() int { return l.Count }
