//go:build !cgo

package batch

import (
	"context"
	"errors"

	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
)

// errTracksNothing reports that this build cannot track films.
var errTracksNothing = errors.New("this build is without OpenCV and tracks no film: give --nats with a server that has workers, or use a build with OpenCV (docs/howto/desk.md)")

// able reports whether this build can do the requested work.
func (c *Command) able() error {
	if c.URL == "" {
		return errTracksNothing
	}
	return nil
}

func (*Command) work(context.Context) error { return console.Usage(errTracksNothing) }

func trackHere(context.Context, string) error { return console.Usage(errTracksNothing) }

// serve is never called, because able refuses before.
func (*Command) serve(context.Context) (*bus.Conn, func() error, error) {
	return nil, nil, errTracksNothing
}
