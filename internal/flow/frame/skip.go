package frame

// ErrSkip wraps the reason why one frame cannot be tracked, such as a torn picture or a blank frame. The runner counts the frame as dropped under Cause,
// publishes the loss and continues with the stream.
type ErrSkip struct {
	Cause string // name of the counter, lower_snake_case
	Err   error
}

func (e *ErrSkip) Error() string { return e.Err.Error() }
func (e *ErrSkip) Unwrap() error { return e.Err }
