//go:build !linux

package suite

import (
	"errors"
	"os"
)

// OpenTerminal fails the test: pseudo-terminals need Linux.
func OpenTerminal() (here *os.File, device string, err error) {
	return nil, "", errors.New("pseudo-terminals are opened on Linux only")
}
