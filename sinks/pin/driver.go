package pin

import (
	"errors"
	"fmt"
	"time"
)

// driver owns a device, on its own goroutine.
type driver struct {
	sink   *Sink
	open   func() (device, error)
	device device               // nil while the device is away
	away   error                // why
	try    time.Time            // time of the next attempt to open it
	shown  map[string]time.Time // rules that are on at the device, with the end of their pulse; zero: no end
}

// passing is the error of one undelivered request to a working device.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// run writes until the sink is closed.
func (w *driver) run() {
	defer close(w.sink.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(w.wait())
		select {
		case o, more := <-w.sink.requests:
			if !more {
				w.end()
				return
			}
			w.take(&o)
		case <-timer.C:
			w.due(time.Now())
		}
	}
}

// wait returns the time until the next task that needs no request.
func (w *driver) wait() time.Duration {
	next := time.Now().Add(time.Hour) // if nothing is due
	if w.device == nil {
		next = w.try
	} else {
		for _, until := range w.shown {
			if !until.IsZero() && until.Before(next) {
				next = until
			}
		}
	}
	return max(time.Until(next), 0)
}

// take executes a request, or counts it as lost.
func (w *driver) take(o *request) {
	switch waited := time.Since(o.taken); {
	case !o.on && w.sink.options.Pulse > 0: // the driver ends pulses itself
	case w.device == nil:
		w.sink.lose(w.away)
	case o.on && waited > w.sink.options.Late:
		w.sink.lose(fmt.Errorf("%s: the beginning of a condition waited %v, longer than late (%v), and was not written", w.sink.name, waited.Round(time.Millisecond), w.sink.options.Late))
	default:
		if err := w.set(o); err != nil {
			w.sink.lose(err)
		} else if t := o.trigger; w.sink.env.Wrote != nil && !t.Arrived.IsZero() {
			w.sink.env.Wrote(t, time.Since(t.Arrived)-t.Latency)
		}
	}
}

// set writes a state and records it. If the device fails, set gives it up.
func (w *driver) set(o *request) error {
	err := w.device.set(o)
	if err != nil {
		err = fmt.Errorf("%s: %w", w.sink.name, err)
		if _, passes := errors.AsType[passing](err); !passes {
			w.leave(err)
		}
		return err
	}
	switch pulse := w.sink.options.Pulse; {
	case !o.on:
		delete(w.shown, o.rule)
	case pulse > 0:
		w.shown[o.rule] = time.Now().Add(pulse)
	default:
		w.shown[o.rule] = time.Time{}
	}
	return nil
}

// leave gives up the device until it can be opened again.
func (w *driver) leave(why error) {
	w.sink.env.Log.Warn("a device does not respond; retrying until it does", "device", w.sink.name, "why", why)
	w.device.Close() // it has already failed
	w.device, w.away, w.try = nil, why, time.Now().Add(again)
}

// due reopens a device that is away, and ends pulses.
func (w *driver) due(now time.Time) {
	if w.device == nil {
		if !now.Before(w.try) {
			w.back()
		}
		return
	}
	for _, rule := range named(w.shown) {
		if until := w.shown[rule]; !until.IsZero() && !now.Before(until) && !w.off(rule) {
			return
		}
	}
}

// back tries to open the device, and turns off every rule that may have ended meanwhile.
func (w *driver) back() {
	d, err := w.open()
	if err != nil {
		w.try = time.Now().Add(again)
		return
	}
	w.device = d
	w.sink.env.Log.Info("a device is back", "device", w.sink.name)
	w.allOff()
}

// allOff turns off every rule that is on at the device.
func (w *driver) allOff() {
	for _, rule := range named(w.shown) {
		if !w.off(rule) {
			return
		}
	}
}

// off turns a rule off, and reports whether the device accepted this.
func (w *driver) off(rule string) bool {
	err := w.set(&request{rule: rule, taken: time.Now()})
	if err != nil && w.device != nil {
		delete(w.shown, rule) // the device works, but would refuse this again and again
		w.sink.lose(err)
	}
	return err == nil || w.device != nil
}

// end turns every rule off. Requests that arrived while the device was away have already been counted as lost.
func (w *driver) end() {
	if w.device != nil {
		w.allOff()
	}
	if w.device == nil {
		if left := named(w.shown); len(left) > 0 {
			w.sink.lose(fmt.Errorf("%s does not respond, and %v may still be on: %w", w.sink.name, left, w.away))
		}
		return
	}
	if err := w.device.Close(); err != nil {
		w.sink.env.Log.Warn("a device was not closed cleanly", "device", w.sink.name, "why", err)
	}
}
