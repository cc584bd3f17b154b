package pin

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Limits of a serial device.
const (
	leastBaud = 300
	mostBaud  = 4_000_000
	mostBytes = 256 // bytes per state: 6 ms at 460800 baud

	// writing is the time without any accepted byte after which a device counts as away: its driver's 4 KiB are full, or it hangs.
	writing = 200 * time.Millisecond

	textBaud    = 115200
	firmataBaud = 57600 // default of StandardFirmata
)

// serialOptions holds the keys of the sink serial.
type serialOptions struct {
	options                  // their keys are siblings
	Device  string           `yaml:"device" reaches:"device"`
	Baud    int              `yaml:"baud"`                      // 8 bits, no parity, one stop bit; 0: the default
	Rules   map[string]texts `yaml:"rules" reaches:"nothing"`   // bytes to write, by rule
	Firmata map[string]int   `yaml:"firmata" reaches:"nothing"` // digital pin, by rule; replaces rules
}

// texts holds the bytes to write for a rule. Each character stands for the byte with its number.
type texts struct {
	On  string `yaml:"on"`
	Off string `yaml:"off"` // empty writes nothing
}

// NewSerial writes to a serial device: given bytes for every state of a rule, or Firmata messages that set the pins of a board.
func NewSerial(decode func(any) error, env Env) (*Sink, error) {
	o := serialOptions{options: usual}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := errors.Join(o.options.check(), o.check()); err != nil {
		return nil, err
	}
	rules, key := named(o.Rules), "rules"
	if len(o.Firmata) > 0 {
		rules, key = named(o.Firmata), "firmata"
	}
	if err := checkRules(key, rules, env); err != nil {
		return nil, err
	}
	return start(o.Device, rules, o.options, env, o.open)
}

// check returns an error of one line for options that are invalid for all devices.
func (o *serialOptions) check() error {
	switch {
	case o.Device == "":
		return errors.New("device is missing: give a device, such as /dev/ttyACM0, or a name in /dev/serial/by-id")
	case len(o.Rules) > 0 && len(o.Firmata) > 0:
		return errors.New("rules, firmata: found both: give a text for each rule, or a pin for each rule")
	case len(o.Rules) == 0 && len(o.Firmata) == 0:
		return errors.New(`rules: is missing: give the text for a rule, such as {edge: {on: "1\n", off: "0\n"}}, or firmata: {edge: 13}`)
	}
	if o.Baud == 0 {
		o.Baud = textBaud
		if len(o.Firmata) > 0 {
			o.Baud = firmataBaud
		}
	}
	if o.Baud < leastBaud || o.Baud > mostBaud {
		return fmt.Errorf("baud: found %d, expected %d to %d", o.Baud, leastBaud, mostBaud)
	}
	for _, rule := range named(o.Rules) {
		t := o.Rules[rule]
		for _, part := range []struct{ key, text string }{{"on", t.On}, {"off", t.Off}} {
			if _, err := octets(part.text); err != nil {
				return fmt.Errorf("rules.%s.%s: %w", rule, part.key, err)
			}
		}
		if t.On == "" {
			return fmt.Errorf("rules.%s.on: is missing: give the text for the beginning of the condition", rule)
		}
	}
	for _, rule := range named(o.Firmata) {
		if pin := o.Firmata[rule]; pin < 0 || pin > mostPin {
			return fmt.Errorf("firmata.%s: found %d, expected a digital pin, 0 to %d", rule, pin, mostPin)
		}
	}
	return nil
}

// octets returns the bytes of a text, one per character.
func octets(text string) ([]byte, error) {
	var out []byte
	for _, r := range text {
		if r > 0xff {
			return nil, fmt.Errorf("found %q, expected only characters up to \\xff, because each is one byte", r)
		}
		out = append(out, byte(r))
	}
	if len(out) > mostBytes {
		return nil, fmt.Errorf("found %d bytes, expected at most %d", len(out), mostBytes)
	}
	return out, nil
}

// open opens the device. The board keeps its state.
func (o *serialOptions) open() (device, error) {
	port, err := openSerial(o.Device, o.Baud)
	if err != nil {
		return nil, err
	}
	if len(o.Firmata) > 0 {
		return newFirmata(port, o.Firmata)
	}
	w := &writer{port: port, states: map[string][2][]byte{}}
	for rule, t := range o.Rules {
		on, _ := octets(t.On) // valid: checked before
		off, _ := octets(t.Off)
		w.states[rule] = [2][]byte{off, on}
	}
	return w, nil
}

// writer is a serial device that receives bytes for the state of a rule.
type writer struct {
	port   *os.File
	states map[string][2][]byte // bytes for off and on, by rule
}

func (w *writer) set(o *request) error { return send(w.port, w.states[o.rule][index(o.on)]) }

// Close closes the device without waiting for its driver's buffer.
func (w *writer) Close() error { return closeSerial(w.port) }

func index(on bool) int {
	if on {
		return 1
	}
	return 0
}

// send writes all of b, within the device's time limit.
func send(port *os.File, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if err := port.SetWriteDeadline(time.Now().Add(writing)); err != nil {
		return err
	}
	_, err := port.Write(b)
	return err
}
