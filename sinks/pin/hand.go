package pin

import (
	"errors"
	"fmt"
	"time"
)

// hand owns a device, on a goroutine of its own.
type hand struct {
	sink   *Sink
	open   func() (device, error)
	device device               // nil while it is away
	away   error                // why
	try    time.Time            // when it is opened again
	lit    map[string]time.Time // rules that the device was last told are on, and until when; zero: until they end
}

// passing is the error of one order that was not delivered by a device that is well.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// run writes until the sink is closed.
func (h *hand) run() {
	defer close(h.sink.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(h.wait())
		select {
		case o, more := <-h.sink.orders:
			if !more {
				h.end()
				return
			}
			h.take(&o)
		case <-timer.C:
			h.due(time.Now())
		}
	}
}

// wait is how long there is nothing to do without an order.
func (h *hand) wait() time.Duration {
	next := time.Now().Add(time.Hour) // nothing is due
	if h.device == nil {
		next = h.try
	} else {
		for _, until := range h.lit {
			if !until.IsZero() && until.Before(next) {
				next = until
			}
		}
	}
	return max(time.Until(next), 0)
}

// take carries an order out, or loses it.
func (h *hand) take(o *order) {
	switch waited := time.Since(o.taken); {
	case !o.on && h.sink.options.Pulse > 0: // the pulse's own end is what is written
	case h.device == nil:
		h.sink.lose(h.away)
	case o.on && waited > h.sink.options.Late:
		h.sink.lose(fmt.Errorf("%s: a beginning waited %v, longer than late: %v, and was not written", h.sink.name, waited.Round(time.Millisecond), h.sink.options.Late))
	default:
		if err := h.set(o); err != nil {
			h.sink.lose(err)
		} else if t := o.trigger; h.sink.env.Wrote != nil && !t.Arrived.IsZero() {
			h.sink.env.Wrote(t, time.Since(t.Arrived)-t.Latency)
		}
	}
}

// set writes a state, and notes what the device shows. A device that fails is given up.
func (h *hand) set(o *order) error {
	err := h.device.set(o)
	if err != nil {
		err = fmt.Errorf("%s: %w", h.sink.name, err)
		if _, passes := errors.AsType[passing](err); !passes {
			h.leave(err)
		}
		return err
	}
	switch pulse := h.sink.options.Pulse; {
	case !o.on:
		delete(h.lit, o.rule)
	case pulse > 0:
		h.lit[o.rule] = time.Now().Add(pulse)
	default:
		h.lit[o.rule] = time.Time{}
	}
	return nil
}

// leave gives the device up until it can be opened again.
func (h *hand) leave(why error) {
	h.sink.env.Log.Warn("a device is away; trying again until it is back", "device", h.sink.name, "why", why)
	h.device.Close() // it has failed already
	h.device, h.away, h.try = nil, why, time.Now().Add(again)
}

// due opens a device that is away, and ends pulses.
func (h *hand) due(now time.Time) {
	if h.device == nil {
		if !now.Before(h.try) {
			h.back()
		}
		return
	}
	for _, rule := range named(h.lit) {
		if until := h.lit[rule]; !until.IsZero() && !now.Before(until) && !h.off(rule) {
			return
		}
	}
}

// back tries to open the device, and has it show nothing as on that may have ended meanwhile.
func (h *hand) back() {
	d, err := h.open()
	if err != nil {
		h.try = time.Now().Add(again)
		return
	}
	h.device = d
	h.sink.env.Log.Info("a device is back", "device", h.sink.name)
	h.darken()
}

// darken sets off what the device shows as on.
func (h *hand) darken() {
	for _, rule := range named(h.lit) {
		if !h.off(rule) {
			return
		}
	}
}

// off sets a rule off, and says whether the device took it.
func (h *hand) off(rule string) bool {
	err := h.set(&order{rule: rule, taken: time.Now()})
	if err != nil && h.device != nil {
		delete(h.lit, rule) // the device is well, and would refuse it again and again
		h.sink.lose(err)
	}
	return err == nil || h.device != nil
}

// end leaves the device with nothing on. Orders that found it away were lost before.
func (h *hand) end() {
	if h.device != nil {
		h.darken()
	}
	if h.device == nil {
		if left := named(h.lit); len(left) > 0 {
			h.sink.lose(fmt.Errorf("%s is away, and may show %v as on: %w", h.sink.name, left, h.away))
		}
		return
	}
	if err := h.device.Close(); err != nil {
		h.sink.env.Log.Warn("a device was not closed cleanly", "device", h.sink.name, "why", err)
	}
}
