//go:build !linux

package pin

import (
	"errors"
	"os"
)

func openSerial(string, int) (*os.File, error) {
	return nil, errors.New("device: serial devices need Linux: run the tracker on Linux, or use a program that subscribes to the triggers")
}

func closeSerial(port *os.File) error { return port.Close() }
