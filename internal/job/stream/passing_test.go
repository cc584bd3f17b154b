package stream

import (
	"errors"
	"testing"

	"driftscope/sinks/natsink"
)

// TestOfServer: a server's error is never a usage error for a worker, which tries again. For a run it is, unless the server did not answer.
func TestOfServer(t *testing.T) {
	refused := errors.New("no responders available for request")
	for _, c := range []struct {
		of   Stream
		err  error
		want bool
	}{
		{Stream{lease: &grant{epoch: 1}}, refused, false},
		{Stream{lease: &grant{epoch: 1}}, natsink.ErrUnanswered, false},
		{Stream{}, natsink.ErrUnanswered, false},
		{Stream{}, refused, true},
	} {
		if got := Wrong(c.of.ofServer(c.err)); got != c.want {
			t.Errorf("%v, of a worker: %t: found %t, expected %t", c.err, c.of.lease != nil, got, c.want)
		}
	}
}
