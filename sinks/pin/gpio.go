package pin

import (
	"errors"
	"fmt"
	"strings"
)

// mostLine is larger than any chip's line number.
const mostLine = 1023

// gpioOptions holds the keys of the sink gpio.
type gpioOptions struct {
	options                  // their keys are siblings
	Chip      string         `yaml:"chip" reaches:"device"`   // such as /dev/gpiochip0 or gpiochip0
	Lines     map[string]int `yaml:"lines" reaches:"nothing"` // offset of the line at the chip, by rule
	ActiveLow bool           `yaml:"active_low"`              // low means on
}

// NewGPIO sets lines of a GPIO chip, through the character device of Linux 5.10 and newer.
func NewGPIO(decode func(any) error, env Env) (*Sink, error) {
	o := gpioOptions{options: usual}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := errors.Join(o.options.check(), checkRules("lines", named(o.Lines), env)); err != nil {
		return nil, err
	}
	if o.Chip == "" {
		return nil, errors.New("chip is missing: give a chip, such as /dev/gpiochip0: gpiodetect lists the chips")
	}
	if !strings.Contains(o.Chip, "/") {
		o.Chip = "/dev/" + o.Chip
	}
	taken := map[int]string{}
	for _, rule := range named(o.Lines) {
		line := o.Lines[rule]
		if line < 0 || line > mostLine {
			return nil, fmt.Errorf("lines.%s: found %d, expected the offset of a line, 0 to %d: gpioinfo lists the lines", rule, line, mostLine)
		}
		if other, twice := taken[line]; twice {
			return nil, fmt.Errorf("lines.%s and lines.%s: both are %d: give each rule its own line", other, rule, line)
		}
		taken[line] = rule
	}
	return start(o.Chip, named(o.Lines), o.options, env, func() (device, error) { return openLines(&o, kernel{}) })
}
