package config

import (
	"fmt"
	"strings"
	"time"
)

// leadAuto is the value of Lead that asks for the measured lead.
const leadAuto = "auto"

// mostLead is longer than the delay of any feedback loop: forecasts reach only 64 frames.
const mostLead = 10 * time.Second

// ReadLead parses Lead. more is its duration, which is added to the measured lead if auto is true. An empty Lead means no lead.
func (o *Online) ReadLead() (auto bool, more time.Duration, err error) {
	text := o.Lead
	if text == "" {
		return false, 0, nil
	}
	if text == leadAuto {
		return true, 0, nil
	}
	text, auto = strings.CutPrefix(text, leadAuto+"+")
	more, err = time.ParseDuration(text)
	if err != nil || more <= 0 || more > mostLead {
		return false, 0, fmt.Errorf("online.lead: found %.40q, expected a duration up to %v such as 12ms, the word auto, or auto plus the delay after the pin, such as auto+5ms", o.Lead, mostLead)
	}
	return auto, more, nil
}
