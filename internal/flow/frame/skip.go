package frame

// ErrSkip wraps the reason why one frame cannot be tracked although the stream continues: a torn picture, a blank frame. The runner counts the frame as dropped
// under the wrapped error's cause, publishes the loss and continues.
type ErrSkip struct {
	Cause string // the counter's name, lower_snake_case
	Err   error
}

func (e *ErrSkip) Error() string { return e.Err.Error() }
func (e *ErrSkip) Unwrap() error { return e.Err }
