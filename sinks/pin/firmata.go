package pin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"
)

// The messages of the Firmata protocol (github.com/firmata/protocol, protocol.md) that are used here. Bytes below 0x80 are data.
const (
	pinMode     = 0xf4 // pin, mode
	digitalPin  = 0xf5 // pin, 0 or 1; since protocol 2.5
	versionAsks = 0xf9 // without data a query; with major and minor the answer
	output      = 1    // mode

	mostPin = 127
	// booting is the longest time from a board's reset to its first answer: an Uno takes under two seconds. Opening the port resets many boards.
	booting = 5 * time.Second
	asking  = time.Second // interval of queries
)

// firmata sets digital pins of a board with StandardFirmata, or other firmware of protocol 2.5.
type firmata struct {
	port *os.File
	pins map[string]int
}

// newFirmata waits until the board answers, and makes its pins outputs that are low. It takes ownership of the port, also on error.
func newFirmata(port *os.File, pins map[string]int) (device, error) {
	f := &firmata{port, pins}
	if err := errors.Join(f.greet(), f.prepare()); err != nil {
		f.Close() // err has the reason
		return nil, fmt.Errorf("device: %s: %w", port.Name(), err)
	}
	return f, nil
}

// greet asks the board for its protocol version.
func (f *firmata) greet() error {
	var heard []byte
	chunk := make([]byte, 256)
	for end := time.Now().Add(booting); time.Now().Before(end); {
		if err := send(f.port, []byte{versionAsks}); err != nil {
			return err
		}
		for until := time.Now().Add(asking); ; {
			if err := f.port.SetReadDeadline(until); err != nil {
				return err
			}
			n, err := f.port.Read(chunk)
			heard = append(heard, chunk[:n]...)
			heard = heard[max(len(heard)-len(chunk), 0):] // keep only the end of a long output
			if major, minor, said := version(heard); said {
				return checkVersion(major, minor)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			} else if err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("no Firmata answers within %v: load StandardFirmata onto the board (Arduino IDE: File, Examples, Firmata), and check baud", booting)
}

// version finds the protocol version in a board's output.
func version(heard []byte) (major, minor byte, said bool) {
	for {
		i := bytes.IndexByte(heard, versionAsks)
		if i < 0 || i+2 >= len(heard) {
			return 0, 0, false
		}
		if heard = heard[i+1:]; heard[0] < 0x80 && heard[1] < 0x80 {
			return heard[0], heard[1], true
		}
	}
}

func checkVersion(major, minor byte) error {
	if major < 2 || major == 2 && minor < 5 {
		return fmt.Errorf("the board uses Firmata %d.%d, expected 2.5 or newer: load the StandardFirmata of a current Arduino IDE onto it", major, minor)
	}
	return nil
}

// prepare makes the pins outputs that are low.
func (f *firmata) prepare() error {
	var all []byte
	for _, rule := range named(f.pins) {
		pin := byte(f.pins[rule])
		all = append(all, pinMode, pin, output, digitalPin, pin, 0)
	}
	return send(f.port, all)
}

func (f *firmata) set(o *request) error {
	return send(f.port, []byte{digitalPin, byte(f.pins[o.rule]), byte(index(o.on))})
}

// Close closes the port.
func (f *firmata) Close() error { return closeSerial(f.port) }
