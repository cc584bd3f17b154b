package rtsp

import (
	"errors"
	"fmt"
	"io"

	"github.com/bluenviron/gortsplib/v5/pkg/base"
	"github.com/bluenviron/gortsplib/v5/pkg/liberrors"
)

// ending returns the reason for the loss of the camera, from the library's error.
func (s *Stream) ending(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, udp := errors.AsType[liberrors.ErrClientUDPTimeout](err)
	_, tcp := errors.AsType[liberrors.ErrClientTCPTimeout](err)
	switch {
	case udp && !s.assembly.begun:
		return fmt.Errorf("no packet arrived within %v over UDP, which a firewall may block: leave transport out", silence)
	case udp || tcp:
		return fmt.Errorf("the camera has sent nothing for %v", silence)
	}
	return explained(err)
}

// explained translates a library error into advice for the camera's user.
func explained(err error) error {
	if errors.Is(err, io.EOF) { // hide io.EOF, which means the end of a recording to readers of sources
		return errors.New("the camera ended the connection")
	}
	var status liberrors.ErrClientBadStatusCode
	if !errors.As(err, &status) {
		return err
	}
	switch status.Code {
	case base.StatusUnauthorized:
		return errors.New("the camera refuses this user and password (401)")
	case base.StatusNotFound:
		return errors.New("the camera has no such path (404)")
	case base.StatusUnsupportedTransport:
		return errors.New("the camera does not support this transport (461): set transport to udp, or leave it out if it is udp")
	}
	return fmt.Errorf("the camera answers %d (%s)", status.Code, status.Message)
}
