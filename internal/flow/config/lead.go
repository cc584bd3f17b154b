package config

import (
	"fmt"
	"strings"
	"time"
)

// leadAuto is the word for a measured lead.
const leadAuto = "auto"

// mostLead is beyond any loop: forecasts reach 64 frames.
const mostLead = 10 * time.Second

// ReadLead reads Lead: a time, which is added to the measured one if Lead begins with auto. An empty Lead means no lead.
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
		return false, 0, fmt.Errorf("online.lead: found %.40q, expected a duration up to %v such as 12ms, auto, or auto and what comes after the pin, auto+5ms", o.Lead, mostLead)
	}
	return auto, more, nil
}
