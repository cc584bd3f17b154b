package pin

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Bounds on a serial device.
const (
	leastBaud = 300
	mostBaud  = 4_000_000
	mostBytes = 256 // of what is written for a state: 6 ms at 460800 baud

	// writing is how long a device may take nothing before it counts as away: its driver holds 4 KiB, so it is full or it hangs.
	writing = 200 * time.Millisecond

	textBaud    = 115200
	firmataBaud = 57600 // StandardFirmata's own
)

// serialOptions are the keys of the sink serial.
type serialOptions struct {
	options                  // their keys stand beside these
	Device  string           `yaml:"device" reaches:"device"`
	Baud    int              `yaml:"baud"`                      // of 8 bits, no parity, one stop bit; 0: the usual one
	Rules   map[string]texts `yaml:"rules" reaches:"nothing"`   // what is written for each
	Firmata map[string]int   `yaml:"firmata" reaches:"nothing"` // instead: the digital pin of each
}

// texts are what is written for a rule. Each character is the byte of its number.
type texts struct {
	On  string `yaml:"on"`
	Off string `yaml:"off"` // empty writes nothing
}

// NewSerial writes to a serial device: some bytes for every state of a rule, or Firmata, which sets the pins of a board.
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

// check refuses what no device takes, in one line.
func (o *serialOptions) check() error {
	switch {
	case o.Device == "":
		return errors.New("device is missing: give one, such as /dev/ttyACM0, or a name in /dev/serial/by-id")
	case len(o.Rules) > 0 && len(o.Firmata) > 0:
		return errors.New("rules, firmata: found both: give what is written for each rule, or the pin of each")
	case len(o.Rules) == 0 && len(o.Firmata) == 0:
		return errors.New(`rules: is missing: give what is written for a rule, such as {edge: {on: "1\n", off: "0\n"}}, or firmata: {edge: 13}`)
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
			return fmt.Errorf("rules.%s.on: is missing: give what is written when the condition begins", rule)
		}
	}
	for _, rule := range named(o.Firmata) {
		if pin := o.Firmata[rule]; pin < 0 || pin > mostPin {
			return fmt.Errorf("firmata.%s: found %d, expected a digital pin, 0 to %d", rule, pin, mostPin)
		}
	}
	return nil
}

// octets are the bytes of a text, one a character.
func octets(text string) ([]byte, error) {
	var out []byte
	for _, r := range text {
		if r > 0xff {
			return nil, fmt.Errorf("found %q, expected characters up to \\xff, each of which is one byte", r)
		}
		out = append(out, byte(r))
	}
	if len(out) > mostBytes {
		return nil, fmt.Errorf("found %d bytes, expected at most %d", len(out), mostBytes)
	}
	return out, nil
}

// open opens the device, which comes in the state in which the board is.
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
		on, _ := octets(t.On) // checked before
		off, _ := octets(t.Off)
		w.states[rule] = [2][]byte{off, on}
	}
	return w, nil
}

// writer is a serial device that takes bytes for a rule's state.
type writer struct {
	port   *os.File
	states map[string][2][]byte // off and on
}

func (w *writer) set(o *request) error { return send(w.port, w.states[o.rule][index(o.on)]) }

// Close gives the device back without waiting for what its driver still holds.
func (w *writer) Close() error { return closeSerial(w.port) }

func index(on bool) int {
	if on {
		return 1
	}
	return 0
}

// send writes all of b, within the time that a device may take.
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
